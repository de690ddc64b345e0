"""spaCy's English tokenizer and sentencizer, as far as words and sentences go, with regular expressions.

The algorithm is that of ``spacy/tokenizer.pyx``: cut affixes off both ends until an exception is left or nothing more
can be cut, then cut inside, then join pieces that make up an exception. Only the sets of characters come from the
table that the kernels use.
"""

import re
import unicodedata
from functools import cache

from curator_text.kernels import characters as kinds
from curator_text.kernels.english_exceptions import english_exceptions
from curator_text.kernels.split_tables import UNITS
from tests.support.quality_oracle import characters_of


@cache
def _class(kind):
    """Return the characters of a kind as ranges for a regular expression, which is far faster than all of them."""
    points = list(map(ord, characters_of(kind)))
    starts = [point for at, point in enumerate(points) if at == 0 or points[at - 1] != point - 1]
    ends = [point for at, point in enumerate(points) if at == len(points) - 1 or points[at + 1] != point + 1]
    return "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end in zip(starts, ends, strict=True))


@cache
def patterns():
    """Return how prefixes, suffixes and infixes are found."""
    alpha, lower, upper = _class(kinds.SPLIT_ALPHA), _class(kinds.SPLIT_LOWER), _class(kinds.SPLIT_UPPER)
    quote, inside = _class(kinds.SPLIT_QUOTE), _class(kinds.SPLIT_INSIDE)
    currency = rf"US\$|C\$|A\$|[{_class(kinds.SPLIT_CURRENCY)}]"
    units = "|".join(map(re.escape, UNITS.split()))
    prefix = rf"\+(?![0-9])|\.\.+|{currency}|[{_class(kinds.SPLIT_PREFIX)}]"
    suffix = "|".join(
        f"(?:{each})$"
        for each in (
            rf"[{_class(kinds.SPLIT_SUFFIX)}]",
            "\u2026\u2026",
            r"\.\.+",
            "['\u2019][sS]",
            r"(?<=[0-9])\+",
            r"(?<=\u00b0[FfCcKk])\.",
            f"(?<=[0-9])(?:{currency})",
            f"(?<=[0-9])(?:{units})",
            rf"(?<=[{_class(kinds.SPLIT_BEFORE_STOP)}])\.",
            rf"(?<=[{upper}][{upper}])\.",
        )
    )
    infix = "|".join(
        (
            r"\.\.+",
            f"[{inside}]",
            r"(?<=[0-9])[+\-*^](?=[0-9-])",
            rf"(?<=[{lower}{quote}])\.(?=[{upper}{quote}])",
            f"(?<=[{alpha}]),(?=[{alpha}])",
            f"(?<=[{alpha}0-9])(?:-|\u2013|\u2014|--|---|\u2014\u2014|~)(?=[{alpha}])",
            f"(?<=[{alpha}0-9])[:<>=/](?=[{alpha}])",
        )
    )
    return tuple(map(re.compile, (prefix, suffix, infix)))


def is_url(text):
    """Tell addresses: a host with optional scheme, user, port and path."""
    starts = [0, *(match.end() for match in re.finditer("(?<=.)@", text))]
    scheme = re.match(r"[\w+.-]{2,}://", text)
    if scheme:
        starts.append(scheme.end())
    return any(is_host_and_rest(text[start:]) for start in starts)


def is_host_and_rest(text):
    """Tell a host that nothing follows but a port and a path."""
    host, mark, rest = re.match(r"([^:/?#]*)([:/?#]?)(.*)", text).groups()
    if mark == ":" and not re.fullmatch(r"[0-9]{2,5}([/?#].*)?", rest):
        return False
    return is_address(host) or is_name(host)


def is_name(host):
    *labels, top = host.split(".")
    part = "[A-Za-z0-9\u00a1-\uffff]"
    is_label = re.compile(f"{part}|{part}(?:{part}|[_-]){{0,62}}{part}").fullmatch
    return bool(labels) and all(map(is_label, labels)) and re.fullmatch(f"[{_class(kinds.SPLIT_LOWER)}]{{2,63}}", top)


def is_address(host):
    """Tell IP addresses of hosts in public networks."""
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", host):
        return False
    a, b, c, d = map(int, host.split("."))
    is_private = a in (10, 127) or (a, b) in {(169, 254), (192, 168)} or (a == 172 and 16 <= b <= 31)
    is_written_well = not re.match("0", host) and not re.search(r"\.0[0-9]*$|\.0[0-9]{2}", host)
    return 0 < a < 224 and b < 256 and c < 256 and 0 < d < 255 and is_written_well and not is_private


def split_run(run):
    """Split one run of characters without whitespace."""
    exceptions = english_exceptions()
    prefix, suffix, infix = patterns()
    before, after, last_size = [], [], -1
    middle = run
    while middle and len(middle) != last_size and middle not in exceptions:
        last_size = len(middle)
        match = prefix.match(middle)
        cut = match.end() if match else 0
        if cut and middle[cut:] in exceptions:
            before.append(middle[:cut])
            middle = middle[cut:]
            break
        match = suffix.search(middle[cut:])
        end = len(middle) - (match.end() - match.start()) if match else len(middle)
        if match and middle[:end] in exceptions:
            after.insert(0, middle[end:])
            middle = middle[:end]
            break
        if cut:
            before.append(middle[:cut])
        if match:
            after.insert(0, middle[end:])
        middle = middle[cut:end]
    return join_exceptions(before + split_inside(middle, infix) + after)


def split_inside(text, infix):
    if text in english_exceptions():
        return list(english_exceptions()[text])
    pieces, done = [], 0
    for match in () if is_url(text) else infix.finditer(text):
        if match.start() > 0:
            pieces += [text[done : match.start()], match.group()]
            done = match.end()
    return [piece for piece in [*pieces, text[done:]] if piece]


def join_exceptions(pieces):
    exceptions = english_exceptions()
    blocked, joined = set(), {}
    for size in range(min(11, len(pieces)), 1, -1):
        for at in range(len(pieces) - size + 1):
            text = "".join(pieces[at : at + size])
            if text in exceptions and re.search("^['\u2019]|['\u2019][sS]?$|[^'\u2019A-Za-z0-9]", text):
                if at not in blocked and at + size - 1 not in blocked:
                    joined[at] = size
                blocked |= set(range(at, at + size))
    words, at = [], 0
    while at < len(pieces):
        size = joined.get(at, 1)
        words += exceptions["".join(pieces[at : at + size])] if at in joined else [pieces[at]]
        at += size
    return words


def split(text):
    return [word for run in text.split() for word in split_run(run)]


def count_sentences(line):
    """Count sentences as the sentencizer does; whitespace that is not one space is a word of its own."""
    runs = re.split(f"([{_class(kinds.SPACE)}]+)", line)
    words = []
    for run in runs:
        if run and run.isspace():
            words += [run[1:]] if words and run.startswith(" ") and len(run) > 1 else [run] * (run != " " or not words)
        elif run:
            words += split_run(run)
    sentences, is_over = 1, False
    ends = set(characters_of(kinds.SENTENCE_END))
    for word in words:
        if word in ends:
            is_over = True
        elif is_over and not all(unicodedata.category(each).startswith("P") for each in word):
            sentences += 1
            is_over = False
    return sentences
