"""Tell regular expressions that backtrack without bound from those that do not, by their shape.

A pattern becomes an automaton with one state for each character that it names (Glushkov's construction). Python's
matcher tries the ways through it one after another, so its work grows faster than the text where some text has more
ways than a constant (Weber and Seidl 1991, "On the degree of ambiguity of finite automata"):

- exponentially: a state comes back to itself over the same text in two ways: ``(a|a)*``, ``(a+)+``;
- polynomially: one text leads from p to p, from p to q and from q to q: ``a*a*``, ``\\s*=?\\s*``. With p the search
  itself, which starts again at every position, this finds ``eyJ[a-zJ]+[.]`` too: every "eyJ" reads to the end.

Where each round of q can end a match nothing is read twice: the search goes on behind that match.

Repeats of up to :data:`MAX_BOUNDED` are a constant. Conditions (look-around, word boundaries) are ignored, which finds
too much rather than too little, except at the beginning of a pattern: there they keep a search from starting again.
"""

import itertools
import re
from dataclasses import dataclass, field

try:
    import re._constants as sre
    import re._parser as sre_parse
except ImportError:  # Python 3.10
    import sre_constants as sre
    import sre_parse

MAX_BOUNDED = 1000
"""Repeats up to this number are work in proportion to the text."""
_MAX_FEW = 4
"""More repeats than this multiply the ways as an endless loop does, where one round has two ways."""
_COPIES = 2
_SPECIAL = "\u0130\u0131\u017f\u0301\u200d\u2028\u212a\u4e2d\U0001f600"
_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
_REPEATS = {sre.MAX_REPEAT, sre.MIN_REPEAT, getattr(sre, "POSSESSIVE_REPEAT", sre.MAX_REPEAT)}


@dataclass
class _Part:
    """A part of a pattern: where it begins and ends, and whether nothing at all can match it."""

    first: set[int] = field(default_factory=set)
    last: dict[int, bool] = field(default_factory=dict)  # whether a condition that can fail follows
    is_optional: bool = True
    is_condition: bool = False


class _Automaton:
    """The states of a pattern, the characters each takes (as bits) and which may follow which."""

    def __init__(self, pattern: re.Pattern, longest_bounded: int) -> None:
        self._longest_bounded = longest_bounded
        self._is_bytes = isinstance(pattern.pattern, bytes)
        tree = sre_parse.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
        self._alphabet = sorted({*map(chr, range(256)), *(() if self._is_bytes else {*_SPECIAL, *_characters(tree)})})
        self.everything = (1 << len(self._alphabet)) - 1
        self.takes: list[int] = []
        self.follow: list[set[int]] = []
        self.doubled: set[int] = set()
        self.root = self._sequence(list(tree), pattern.flags, is_head=True)
        self.is_anchored = _is_anchored(list(tree), pattern.flags)

    def _state(self, takes: int) -> _Part:
        self.takes.append(takes)
        self.follow.append(set())
        number = len(self.takes) - 1
        return _Part({number}, {number: False}, is_optional=False)

    def _joined(self, left: _Part, right: _Part) -> _Part:
        for state in left.last:
            self.follow[state] |= right.first
        kept = {state: can_fail or right.is_condition for state, can_fail in left.last.items()}
        return _Part(
            left.first | (right.first if left.is_optional else set()),
            {**(kept if right.is_optional else {}), **right.last},
            left.is_optional and right.is_optional,
            (left.is_condition or right.is_condition) and left.is_optional and right.is_optional,
        )

    def _sequence(self, items, flags, *, is_head) -> _Part:
        """Build from the end, since what a condition means depends on what follows it."""
        parts = [_Part()]
        for at in range(len(items) - 1, -1, -1):
            starts_here = is_head and all(_has_no_width(each, flags) for each in items[:at])
            part = self._part(items[at], flags, starts_here, parts[-1])
            parts.append(self._joined(part, parts[-1]))
        return parts[-1]

    def _part(self, item, flags, is_head, rest) -> _Part:  # noqa: PLR0911 - one case for each kind
        kind, value = item
        if kind in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self._state(self._taken(item, flags))
        if kind is sre.SUBPATTERN:
            _, added, removed, body = value
            return self._sequence(list(body), (flags | added) & ~removed, is_head=is_head)
        if kind is getattr(sre, "ATOMIC_GROUP", None):
            return self._sequence(list(value), flags, is_head=is_head)
        if kind is sre.BRANCH:
            branches = [self._sequence(list(each), flags, is_head=is_head) for each in value[1]]
            return _Part(
                set().union(*(each.first for each in branches)),
                {state: can_fail for each in branches for state, can_fail in each.last.items()},
                any(each.is_optional for each in branches),
                any(each.is_condition for each in branches),
            )
        if kind in _REPEATS:
            return self._repeat(*value[:2], list(value[2]), flags)
        if kind is sre.GROUPREF:
            return self._state(self.everything)
        if kind is sre.AT:
            return self._place(value, flags, is_head, rest)
        if kind in (sre.ASSERT, sre.ASSERT_NOT):
            return self._look(kind, *value, flags, is_head)
        raise NotImplementedError(f"{kind} in a pattern")

    def _repeat(self, low, high, body, flags) -> _Part:
        is_endless = high is sre.MAXREPEAT or high > self._longest_bounded
        rest = _Part()
        if is_endless:
            rest = self._sequence(body, flags, is_head=False)
            for state in rest.last:
                self.doubled |= {state} if self.follow[state] & rest.first else set()
                self.follow[state] |= rest.first
            rest.is_optional = True
        for _ in range(0 if is_endless else min(high - low, _COPIES)):  # one inside another: x(?:x)?
            rest = self._joined(self._sequence(body, flags, is_head=False), rest)
            rest.is_optional = True
        whole = rest
        for _ in range(min(low, _COPIES)):
            whole = self._joined(self._sequence(body, flags, is_head=False), whole)
        return whole

    def _place(self, place, flags, is_head, rest) -> _Part:
        if is_head and place is sre.AT_BEGINNING and flags & re.MULTILINE:
            return self._state(self._mask(lambda each: each == "\n"))
        if is_head and place is sre.AT_BOUNDARY and not rest.is_optional:
            word = self._category(sre.CATEGORY_WORD, flags)
            following = 0
            for state in rest.first:
                following |= self.takes[state]
            if not following & ~word:
                return self._state(self.everything & ~word)
        return _Part(is_condition=True)

    def _look(self, kind, direction, body, flags, is_head) -> _Part:
        items = list(body)
        if direction < 0:
            is_plain = all(each in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN) for each, _ in items)
            if is_head and is_plain and kind is sre.ASSERT:
                return self._sequence(items, flags, is_head=False)
            if is_head and is_plain and len(items) == 1:
                return self._state(self.everything & ~self._taken(items[0], flags))
            return _Part(is_condition=True)  # of a fixed width, so a constant
        inside = self._sequence(items, flags, is_head=False)  # read, but nothing comes of it
        return _Part(inside.first, {}, is_optional=True, is_condition=True)

    def _mask(self, accepts) -> int:
        return sum(1 << at for at, each in enumerate(self._alphabet) if accepts(each))

    def _category(self, category, flags) -> int:
        ascii_only = re.ASCII if self._is_bytes or flags & re.ASCII else 0
        accepts = re.compile(_CATEGORIES[category], ascii_only).match
        return self._mask(lambda each: accepts(each) is not None)

    def _taken(self, item, flags) -> int:
        kind, value = item
        if kind is sre.ANY:
            return self._mask(lambda each: each != "\n" or bool(flags & re.DOTALL))
        if kind is sre.NOT_LITERAL:
            return self.everything & ~self._taken((sre.LITERAL, value), flags)
        members = value if kind is sre.IN else [item]
        is_negated = bool(members) and members[0][0] is sre.NEGATE
        taken = 0
        for each, what in members[is_negated:]:
            if each is sre.CATEGORY:
                taken |= self._category(what, flags)
            else:
                low, high = what if each is sre.RANGE else (what, what)
                taken |= self._mask(lambda c, low=low, high=high: _is_between(c, low, high, flags))
        return self.everything & ~taken if is_negated else taken


def superlinear(pattern: re.Pattern, *, whole: bool = False) -> str | None:
    """Return why a pattern may take more than linear time, or nothing.

    Args:
        pattern: The compiled pattern.
        whole: Used with ``fullmatch`` only: it starts once, and a match that ends too early is tried again.
    """
    if found := _two_ways(_Automaton(pattern, _MAX_FEW)):
        return found
    automaton = _Automaton(pattern, MAX_BOUNDED)
    takes, follow = [*automaton.takes, automaton.everything], [*automaton.follow, set(automaton.root.first)]
    search = len(takes) - 1
    if not whole and not automaton.is_anchored:
        follow[search].add(search)
    done = set() if whole else {state for state, can_fail in automaton.root.last.items() if not can_fail}
    loops = [state for state in range(len(takes)) if _reachable(follow, state) & {state}]
    for p, q in itertools.permutations(loops, 2):
        if q not in done and q in _reachable(follow, p) and _pumps(takes, follow, p, q, done):
            what = "every start reads on" if p == search else "two repeats share a text"
            return f"polynomial: {what}"
    return None


def _two_ways(automaton: _Automaton) -> str | None:
    if automaton.doubled:
        return "exponential: a repeat of a repeat"
    takes, follow = automaton.takes, automaton.follow
    for state in range(len(takes)):
        around = _reachable(follow, state)
        if state not in around:
            continue
        split, todo = set(), [(state, state)]
        seen = set(todo)
        while todo:
            left, right = todo.pop()
            for pair in itertools.product(follow[left] & around, follow[right] & around):
                if takes[pair[0]] & takes[pair[1]] and pair not in seen:
                    seen.add(pair)
                    todo.append(pair)
                    split |= {pair} if pair[0] != pair[1] else set()
        if any((state, state) in _pairs_after(takes, follow, pair) for pair in split):
            return "exponential: two ways around a repeat"
    return None


def _pairs_after(takes, follow, start):
    seen, todo = set(), [start]
    while todo:
        left, right = todo.pop()
        for pair in itertools.product(follow[left], follow[right]):
            if takes[pair[0]] & takes[pair[1]] and pair not in seen:
                seen.add(pair)
                todo.append(pair)
    return seen


def _pumps(takes, follow, p, q, done) -> bool:
    """Tell whether one text leads from p to p, from p to q and from q to q, here without the end of a match."""
    stays_p = {state for state in _reachable(follow, p) if p in _reachable(follow, state)}
    stays_q = {state for state in _reachable(follow, q) - done if q in _reachable(follow, state)}
    seen, todo = set(), [(p, p, q)]
    while todo:
        at = todo.pop()
        nexts = (follow[at[0]] & stays_p, follow[at[1]], follow[at[2]] & stays_q)
        for each in itertools.product(*nexts):
            if takes[each[0]] & takes[each[1]] & takes[each[2]] and each not in seen:
                if each == (p, q, q):
                    return True
                seen.add(each)
                todo.append(each)
    return False


def _reachable(follow, start) -> set[int]:
    seen, todo = set(), [start]
    while todo:
        new = follow[todo.pop()] - seen
        seen |= new
        todo += new
    return seen


def _characters(tree):
    """Yield the characters that a pattern names, and the ends of its ranges."""
    for kind, value in tree:
        if kind in (sre.LITERAL, sre.NOT_LITERAL):
            yield chr(value)
        elif kind is sre.RANGE:
            yield from map(chr, value)
        elif kind is sre.IN:
            yield from _characters(value)
        elif kind is sre.BRANCH:
            for each in value[1]:
                yield from _characters(each)
        elif kind in (sre.SUBPATTERN, sre.ASSERT, sre.ASSERT_NOT) or kind in _REPEATS:
            yield from _characters(value[-1])


def _is_between(character, low, high, flags) -> bool:
    forms = {character, *character.lower(), *character.upper()} if flags & re.IGNORECASE else {character}
    return any(low <= ord(each) <= high for each in forms)


def _has_no_width(item, flags) -> bool:
    return item[0] in (sre.AT, sre.ASSERT, sre.ASSERT_NOT) and not (item[0] is sre.AT and flags & re.MULTILINE)


def _is_anchored(items, flags) -> bool:
    if not items:
        return False
    kind, value = items[0]
    if kind is sre.SUBPATTERN:
        return _is_anchored(list(value[-1]), flags)
    if kind is sre.BRANCH:
        return all(_is_anchored(list(each), flags) for each in value[1])
    return kind is sre.AT and (
        value is sre.AT_BEGINNING_STRING or (value is sre.AT_BEGINNING and not flags & re.MULTILINE)
    )
