"""Check that SQL text is one expression over the columns of a row, before polars sees it.

polars reads files and URLs while it parses ``SELECT … FROM read_csv('…')``, and overflows its stack on chains of
thousands of operators. So the text is read here, by a grammar that has neither queries nor anything else that is not
listed below, and polars gets a rewritten text: without comments, every column in double quotes, every string in single
quotes. Two parsers cannot disagree on where a string or a comment ends if one of them writes what the other reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FUNCTIONS",
    "MAX_COMPUTED_ITEMS",
    "MAX_LENGTH",
    "MAX_NESTING",
    "MAX_OPERATORS",
    "MAX_READ_TWICE",
    "TYPES",
    "ScalarSqlError",
    "scalar_sql",
]

MAX_LENGTH = 2**16
"""Longest expression, in characters. A list of thousands of values in ``IN`` still fits."""

MAX_NESTING = 32
"""Deepest nesting of brackets, functions, ``CASE``, ``NOT`` and signs. The parser of polars gives up at 50."""

MAX_OPERATORS = 500
"""Maximum number of operators and ``WHEN`` branches, which form a tree of that depth: polars 2.1 crashes at 10,000."""

MAX_COMPUTED_ITEMS = 100
"""Longest list after ``IN`` with an item that is not a literal: there, polars takes time that grows with the cube."""

MAX_READ_TWICE = 6
"""Deepest nesting after words that polars parses in two ways where the first one fails: each level doubles the time."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTIONS = _words(
    # Numbers.
    "abs acos acosd asin asind atan atan2 atan2d atand bit_and bit_count bit_not bit_or bit_xor bitand bitor bitxor "
    "cbrt ceil ceiling cos cosd cot cotd degrees div exp floor ln log log10 log1p log2 mod pi pow power radians round "
    "sign sin sind sqrt tan tand trunc truncate "
    # Text. Not lpad and rpad: a number in the condition would decide how much memory they take.
    "bit_length char_length character_length concat concat_ws ends_with initcap left length lower ltrim octet_length "
    "regexp_like regexp_replace replace reverse right rtrim split_part starts_with string_to_array strpos substr "
    "substring trim upper "
    # Dates, but not the clock: the same row must be kept today and tomorrow.
    "date date_part datetime strftime strptime time timestamp "
    # Nulls and choices.
    "coalesce greatest if ifnull least nullif "
    # Lists.
    "array_contains array_get array_length array_mean array_sum array_to_string"
)
"""Functions that polars computes from the values of one row and nothing else."""

TYPES = _words(
    "bigint bool boolean bytea char date datetime decimal double float float4 float8 int int1 int2 int4 int8 integer "
    "numeric real smallint string text time timestamp tinyint varchar"
)
"""Types that ``CAST``, ``TRY_CAST`` and ``::`` convert to."""

_SEVERAL_ROWS = _words(
    "array_agg avg corr count covar cume_dist dense_rank first first_value lag last last_value lead max mean median "
    "min ntile percent_rank quantile_cont quantile_disc rank row_number stddev stdev sum unnest variance"
)
_TYPED_LITERALS = _words("date datetime interval time timestamp")
_DATE_PARTS = _words(
    "century day decade dow doy epoch hour isodow isoweek isoyear microsecond millennium millisecond minute month "
    "nanosecond quarter second time timezone week year"
)
_OPERATORS = ("!~*", "<=>", "!~", "~*", "||", "//", "==", "!=", "<>", "<=", ">=", *"=<>+-*/%&|~")
_WORD_OPERATORS = _words("and or xor like ilike rlike regexp between")
_NEGATABLE = _words("like ilike rlike regexp between in")
_GRAMMAR_WORDS = _WORD_OPERATORS | _words("not in is case when then else end cast try_cast as extract")
_REFUSED_WORDS = _words(
    "all any current_date current_time current_timestamp current_user distinct except exists from having intersect "
    "join lateral localtime localtimestamp over select session_user some union where with"
)
_READ_TWICE = _words("cast ceil floor not substr substring then try_cast")
"""Words after which a bracket, or ``CASE``, may be read twice: as keywords, and as names of functions or columns."""
_CONSTANTS = _words("null true false")
_SHOWN_CHARACTERS = 40
_ALLOWED = (
    "a condition may have columns, numbers, 'text', comparisons, arithmetic, ||, AND, OR, NOT, LIKE, ILIKE, RLIKE, "
    "IN (a list), BETWEEN, IS NULL, CASE, CAST and the functions "
)

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
      | (?P<string>'[^']*(?:''[^']*)*')
      | (?P<quoted>"[^"]*(?:""[^"]*)*"|`[^`]*`)
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<word>[^\W\d]\w*)
      | (?P<symbol>::|"""
    + "|".join(re.escape(each) for each in (*_OPERATORS, *"(),.[]"))
    + ")",
    re.VERBOSE,
)


class ScalarSqlError(ValueError):
    """The text is not one expression over the columns of a row."""


def scalar_sql(text: str) -> str:
    """Return the SQL expression rewritten for polars, and only if it is one over the columns of a row.

    >>> print(scalar_sql("lang = 'it''s' -- a comment"))
    "lang" = 'it''s'
    >>> scalar_sql("n IN (SELECT x FROM read_csv('/etc/passwd'))")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    curator_table.stages.scalar_sql.ScalarSqlError: SELECT at character 7 is not allowed; ...

    Raises:
        ScalarSqlError: It is something else, or too long, or nested too deeply.
    """
    if len(text) > MAX_LENGTH:
        raise ScalarSqlError(f"it has {len(text):,} characters; at most {MAX_LENGTH:,} are allowed")
    return _Grammar(_tokens(text)).rewritten()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # string, name (a column), number, word, symbol or end
    text: str
    position: int

    @property
    def lower(self) -> str:
        return self.text.lower() if self.kind in ("word", "symbol") else ""

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end"
        shown = self.text.upper() if self.lower in _GRAMMAR_WORDS | _REFUSED_WORDS else self.text
        if len(shown) > _SHOWN_CHARACTERS:
            shown = f"{shown[:_SHOWN_CHARACTERS]}…"
        return f"{shown} at character {self.position + 1}"


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or (match[0] == "/" and text.startswith("/*", position)):
            raise ScalarSqlError(_unreadable(text, position))
        kind, found = str(match.lastgroup), match[0]
        if kind == "quoted":
            kind = "name"
            found = found[1:-1].replace('""', '"') if found[0] == '"' else found[1:-1]
        follows = text[match.end() : match.end() + 1]
        if kind == "number" and (follows.isalnum() or follows in ("_", "'")):
            raise ScalarSqlError(f"{found}{follows} at character {position + 1} is not a number")
        if kind == "word" and follows == "'" and found.lower() not in _TYPED_LITERALS | _GRAMMAR_WORDS:
            raise ScalarSqlError(f"{found}'…' at character {position + 1}: text has no prefix here, only 'quotes'")
        if kind != "space":
            tokens.append(_Token(kind, found, position))
        position = match.end()
    return [*tokens, _Token("end", "", position)]


def _unreadable(text: str, position: int) -> str:
    for opening, what in (("'", "text"), ('"', "a column name"), ("`", "a column name"), ("/*", "a comment")):
        if text.startswith(opening, position):
            return f"{what} that begins at character {position + 1} with {opening} has no end"
    return f"{text[position]!r} at character {position + 1} is not allowed; put column names in double quotes"


class _Grammar:
    """Walk over the tokens, accept operands with operators between them, and record the accepted tokens.

    Which operator binds first is left to polars: the walk only has to know that there is nothing else.
    """

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._written: list[str] = []
        self._nesting = 0
        self._read_twice = 0
        self._operators = 0

    def rewritten(self) -> str:
        self._expression()
        if self._next.kind != "end":
            self._refuse("an operator or the end")
        return " ".join(self._written)

    @property
    def _next(self) -> _Token:
        return self._tokens[self._index]

    @property
    def _before(self) -> str:
        """The word before the next token."""
        return self._tokens[self._index - 1].lower

    def _expression(self) -> None:
        self._operand()
        while self._operator():
            pass

    def _operator(self) -> bool:
        """Accept an operator and its operand; return whether there was one."""
        word = self._next.lower
        if word not in (*_OPERATORS, *_WORD_OPERATORS, "::", "[", "not", "in", "is"):
            return False
        self._count_operator()
        if word == "not":
            self._take()
            word = self._next.lower
            if word not in _NEGATABLE:
                self._refuse("LIKE, IN or BETWEEN after NOT")
        self._take()
        if word == "is":
            self._is()
        elif word == "in":
            self._bracket(self._items)
        elif word == "::":
            self._type()
        elif word == "[":
            self._accept("-")
            self._take_kind("number", "the number of an item")
            self._expect("]")
        else:
            self._operand()
        return True

    def _is(self) -> None:
        self._accept("not")
        if self._accept("distinct"):
            self._expect("from")
            self._operand()
        elif not any(self._accept(word) for word in _CONSTANTS):
            self._refuse("NULL, TRUE, FALSE or DISTINCT FROM after IS")

    def _operand(self) -> None:
        token = self._next
        word = token.lower
        if word in ("not", "-", "+"):
            self._take()
            self._nested(self._operand)
        elif word == "(":
            self._bracket(self._expression)
        elif token.kind in ("string", "number") or word in _CONSTANTS:
            self._take()
        elif token.kind == "name":
            self._column()
        elif word == "case":
            self._nested(self._case, after=self._before)
        elif word in ("cast", "try_cast"):
            self._take()
            self._bracket(self._cast)
        elif word == "extract":
            self._take()
            self._bracket(self._extract)
        elif token.kind == "word" and word not in _GRAMMAR_WORDS:
            self._word(word)
        else:
            self._refuse("a column, a value or a function")

    def _word(self, word: str) -> None:
        following = self._tokens[self._index + 1]
        if following.lower == "(":
            self._function(word)
        elif word in _REFUSED_WORDS:
            self._refuse(f"{_ALLOWED}{', '.join(sorted(FUNCTIONS))}; a column of that name goes in double quotes")
        elif word in _TYPED_LITERALS and following.kind == "string":
            self._take()
            self._take()
        else:
            self._column()

    def _function(self, word: str) -> None:
        if word in _SEVERAL_ROWS:
            raise ScalarSqlError(
                f"{self._next} looks at more than one row at a time, and would depend on how rows are batched"
            )
        if word not in FUNCTIONS:
            self._refuse(f"{_ALLOWED}{', '.join(sorted(FUNCTIONS))}")
        self._take()
        if word == "pi":
            self._bracket(lambda: None)
        else:
            self._bracket(self._list)

    def _column(self) -> None:
        """Accept a column, and the fields of a struct after dots."""
        self._take_name()
        while self._accept("."):
            self._count_operator()
            if self._next.kind not in ("name", "word"):
                self._refuse("the name of a field after the dot")
            self._take_name()

    def _list(self) -> None:
        self._expression()
        while self._accept(","):
            self._expression()

    def _items(self) -> None:
        """Accept the list after ``IN``."""
        starts = [self._index]
        self._expression()
        while self._accept(","):
            starts.append(self._index)
            self._expression()
        if len(starts) > MAX_COMPUTED_ITEMS and not all(map(self._is_literal, starts)):
            raise ScalarSqlError(
                f"the list of IN before character {self._next.position + 1} has {len(starts):,} items; more than "
                f"{MAX_COMPUTED_ITEMS} must all be numbers, 'text' or dates"
            )

    def _is_literal(self, start: int) -> bool:
        """Return whether the item that starts there is a literal, perhaps with a sign or the type of a date."""
        if self._tokens[start].lower in {"-", "+"} | _TYPED_LITERALS - {"interval"}:
            start += 1
        literal, following = self._tokens[start : start + 2]
        return following.lower in (",", ")") and (literal.kind in ("string", "number") or literal.lower in _CONSTANTS)

    def _case(self) -> None:
        self._take()
        if self._next.lower != "when":
            self._expression()
        while self._accept("when"):
            self._count_operator()
            self._expression()
            self._expect("then")
            self._expression()
        if self._accept("else"):
            self._expression()
        self._expect("end")

    def _cast(self) -> None:
        self._expression()
        self._expect("as")
        self._type()

    def _extract(self) -> None:
        if self._next.lower not in _DATE_PARTS:
            self._refuse(f"one of the parts {', '.join(sorted(_DATE_PARTS))}")
        self._take()
        self._expect("from")
        self._expression()

    def _type(self) -> None:
        word = self._next.lower
        if word not in TYPES:
            self._refuse(f"one of the types {', '.join(sorted(TYPES))}")
        self._take()
        if word == "double":
            self._accept("precision")
        if self._accept("("):
            self._take_kind("number", "a size")
            if self._accept(","):
                self._take_kind("number", "a scale")
            self._expect(")")

    def _bracket(self, inside: Callable[[], None]) -> None:
        before = self._before
        self._expect("(")
        self._nested(inside, after=before)
        self._expect(")")

    def _nested(self, inside: Callable[[], None], *, after: str = "") -> None:
        is_read_twice = after in _READ_TWICE
        self._nesting += 1
        self._read_twice += is_read_twice
        where = f"deep at character {self._next.position + 1}"
        if self._read_twice > MAX_READ_TWICE:
            words = ", ".join(sorted(_READ_TWICE)).upper()
            raise ScalarSqlError(f"it is nested more than {MAX_READ_TWICE} {where}, counting only what follows {words}")
        if self._nesting > MAX_NESTING:
            raise ScalarSqlError(f"it is nested more than {MAX_NESTING} {where}")
        inside()
        self._read_twice -= is_read_twice
        self._nesting -= 1

    def _count_operator(self) -> None:
        self._operators += 1
        if self._operators > MAX_OPERATORS:
            raise ScalarSqlError(
                f"it has more than {MAX_OPERATORS} operators; write comparisons with many values as IN ('a', 'b')"
            )

    def _accept(self, word: str) -> bool:
        if self._next.lower != word:
            return False
        self._take()
        return True

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            self._refuse(word.upper())

    def _take_kind(self, kind: str, expected: str) -> None:
        if self._next.kind != kind:
            self._refuse(expected)
        self._take()

    def _take_name(self) -> None:
        name = self._next.text
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            raise ScalarSqlError(f"{self._next} is not allowed: polars takes it for a pattern, not for one column")
        doubled = name.replace('"', '""')
        self._written.append(f'"{doubled}"')
        self._index += 1

    def _take(self) -> None:
        # In lower case, so that letters which become ASCII that way (the sign for Kelvin) never reach polars.
        self._written.append(self._next.lower or self._next.text)
        self._index += 1

    def _refuse(self, expected: str) -> NoReturn:
        verb = expected if expected.startswith(_ALLOWED) else f"expected {expected}"
        raise ScalarSqlError(f"{self._next} is not allowed; {verb}")
