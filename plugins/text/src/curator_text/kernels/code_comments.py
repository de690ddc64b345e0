"""Find the comments of source files by small automata, one for each family of languages.

They decide as the ``comment_parser`` package (1.2.4) does, which NeMo Curator uses, oddities included: a language is
not parsed, and what looks like a comment inside a character or a raw string may count as one.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

from typing import TYPE_CHECKING

from curator_text.kernels.compiling import inlined, kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["GO", "HTML", "JAVASCRIPT", "RUBY", "SHELL", "C", "comment_chars"]

C, HTML, JAVASCRIPT, GO, RUBY, SHELL = range(6)

_NEWLINE, _DOUBLE, _SINGLE, _BACKTICK, _BACKSLASH = 10, 34, 39, 96, 92
_SLASH, _STAR, _HASH, _LESS, _BANG, _DASH, _MORE = 47, 42, 35, 60, 33, 45, 62


@kernel
def comment_chars(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    family: int,
    counts: NDArray[np.int64],
) -> None:
    """Count the characters of each file, and those of its comments joined by single spaces.

    Args:
        data: UTF-8 bytes of the files.
        offsets: Where they start and end.
        rows: Files to look at.
        family: Whose automaton to use.
        counts: Two rows: characters in all, and in comments; -1 where a comment does not end.
    """
    for number in range(rows.size):
        row = rows[number]
        begin, end = offsets[row], offsets[row + 1]
        counts[0, row] = _characters(data, begin, end)
        if family == C or family == HTML:
            comments, chars = _marked(data, begin, end, family)
        elif family == RUBY:
            comments, chars = _ruby(data, begin, end)
        elif family == SHELL:
            comments, chars = _shell(data, begin, end)
        else:
            comments, chars = _script(data, begin, end, family)
        counts[1, row] = -1 if comments < 0 else chars + max(comments - 1, 0)


@inlined
def _characters(data, begin, end):
    count = 0
    for i in range(begin, end):
        count += (data[i] & 0xC0) != 0x80
    return count


@inlined
def _find(data, begin, end, first, second, third):
    """Return where two or three bytes in a row (``third`` below zero for two) start, or -1."""
    last = end - 2 if third < 0 else end - 3
    for i in range(begin, last + 1):
        if data[i] == first and data[i + 1] == second and (third < 0 or data[i + 2] == third):
            return i
    return -1


@inlined
def _line_end(data, i, end):
    while i < end and data[i] != _NEWLINE:
        i += 1
    return i


@inlined
def _marked(data, begin, end, family):
    """C: ``//`` to the end of the line and ``/* */``. HTML: ``<!-- -->``. Quotes that close on their line hide both."""
    comments = chars = 0
    i = begin
    while i < end:
        byte = data[i]
        if byte == _DOUBLE:
            close = i + 1
            while close < end and data[close] != _DOUBLE and data[close] != _NEWLINE:
                close += 1
            i = close + 1 if close < end and data[close] == _DOUBLE else i + 1
            continue
        start = stop = -1
        if family == C and byte == _SLASH and i + 1 < end:
            if data[i + 1] == _SLASH:
                start, stop = i + 2, _line_end(data, i + 2, end)
                i = stop
            elif data[i + 1] == _STAR:
                start, stop = i + 2, _find(data, i + 2, end, _STAR, _SLASH, -1)
                i = stop + 2
        elif family == HTML and byte == _LESS and i + 3 < end and _find(data, i, i + 3, _LESS, _BANG, _DASH) == i:
            if data[i + 3] == _DASH:
                start, stop = i + 4, _find(data, i + 4, end, _DASH, _DASH, _MORE)
                i = stop + 3
        if start < 0:
            i += 1
        elif stop < 0:
            return -1, 0
        else:
            comments += 1
            chars += _characters(data, start, stop)
    return comments, chars


@inlined
def _script(data, begin, end, family):
    """JavaScript and Go: as in C, but strings have three or four kinds of quotes and escapes, and may span lines."""
    comments = chars = 0
    i = begin
    while i < end:
        byte = data[i]
        if byte == _SLASH and i + 1 < end and (data[i + 1] == _SLASH or data[i + 1] == _STAR):
            start = i + 2
            if data[i + 1] == _SLASH:
                stop = _line_end(data, start, end)
                i = stop + 1
            else:
                stop = _find(data, start, end, _STAR, _SLASH, -1)
                if stop < 0:
                    return -1, 0
                i = stop + 2
            comments += 1
            chars += _characters(data, start, stop)
        elif byte == _SLASH:
            i += 2  # the character behind a lone slash is skipped
        elif byte == _DOUBLE or byte == _SINGLE or (family == GO and byte == _BACKTICK):
            i = _string_end(data, i, end)
        else:
            i += 1
    return comments, chars


@inlined
def _string_end(data, i, end):
    """Return where a string that may span lines ends, behind its closing quote."""
    quote = data[i]
    i += 1
    while i < end and data[i] != quote:
        i += 2 if data[i] == _BACKSLASH else 1
    return i + 1


@inlined
def _ruby(data, begin, end):
    """Ruby: ``#`` to the end of the line, except in quotes that close on their line."""
    comments = chars = 0
    i = begin
    while i < end:
        byte = data[i]
        if byte == _HASH:
            stop = _line_end(data, i + 1, end)
            comments += 1
            chars += _characters(data, i + 1, stop)
            i = stop
        elif byte == _DOUBLE or byte == _SINGLE:
            close = escaped = -1
            k = i + 1
            while k < end and data[k] != _NEWLINE:
                if data[k] == _BACKSLASH and k + 1 < end and data[k + 1] == byte:
                    escaped = k + 1  # closes the string if nothing else does
                    k += 2
                elif data[k] == byte:
                    close = k
                    break
                else:
                    k += 1
            i = max(close if close >= 0 else escaped, i) + 1
        else:
            i += 1
    return comments, chars


@inlined
def _shell(data, begin, end):
    """Shell: ``#`` to the end of the line, except in quotes, which may span lines, and behind a backslash."""
    comments = chars = 0
    i = begin
    while i < end:
        byte = data[i]
        if byte == _HASH:
            stop = _line_end(data, i + 1, end)
            comments += 1
            chars += _characters(data, i + 1, stop)
            i = stop + 1
        elif byte == _DOUBLE or byte == _SINGLE:
            i = _string_end(data, i, end)
        else:
            i += 2 if byte == _BACKSLASH else 1
    return comments, chars
