"""One pass over the bytes of each document that counts characters, words and lines of many kinds."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_text.kernels.bytes_at import byte_at
from curator_text.kernels.code_points import decode
from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.surface_tables import (
    BRACKET,
    BULLET,
    CONTENT,
    DIGIT,
    LETTER,
    SPACE,
    STOP_AT_MULTI_BYTE,
    STOP_AT_SPACE,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["METRICS", "surface_counts"]

METRICS = (
    "chars",
    "ascii_content_chars",
    "content_chars",
    "digit_chars",
    "blank_chars",
    "bracket_chars",
    "letter_chars",
    "url_chars",
    "newlines",
    "words",
    "word_chars",
    "longest_word",
    "lettered_words",
    "symbol_words",
    "common_words",
    "lines",
    "bullet_lines",
    "ended_lines",
    "ellipsis_lines",
)
"""What is counted, in the order of the rows of ``counts``."""


def _key(word: str) -> int:
    """Return the bytes of a short word as one number."""
    return int.from_bytes(word.encode(), "big")


# The words that NeMo Curator's CommonEnglishWordsFilter looks for.
_THE, _AND = _key("the"), _key("and")
_BE, _TO, _OF = _key("be"), _key("to"), _key("of")
_THAT, _HAVE, _WITH = _key("that"), _key("have"), _key("with")
# The ellipses that its SymbolsToWordsFilter counts as symbols, by their size in bytes: three and five.
_DOTS, _ELLIPSIS, _DASH_QUOTE = _key("..."), _key("…"), _key("-»")
_SQUARE_DOTS, _ROUND_DOTS, _SQUARE_ELLIPSIS = _key("[...]"), _key("(...)"), _key("[…]")
_READ_MORE = np.frombuffer(b"read more", dtype=np.uint8)


@inlined
def _is_common(key: int, size: int) -> bool:
    if size == 3:
        return key == _THE or key == _AND
    if size == 2:
        return key == _TO or key == _OF or key == _BE
    return size == 4 and (key == _THAT or key == _WITH or key == _HAVE)


@inlined
def _is_ellipsis(key: int, size: int) -> bool:
    if size == 3:
        return key == _DOTS or key == _ELLIPSIS or key == _DASH_QUOTE
    return size == 5 and (key == _SQUARE_DOTS or key == _ROUND_DOTS or key == _SQUARE_ELLIPSIS)


@inlined
def _has_end_mark(data: NDArray[np.uint8], end: int) -> bool:
    """Tell whether the text that ends before ``end`` has one of the five marks of C4 (Raffel et al. 2020) last."""
    last = byte_at(data, end - 1)
    return last == 46 or last == 63 or last == 33 or last == 34 or last == 39  # . ? ! " '


@inlined
def _has_ellipsis(data: NDArray[np.uint8], begin: int, end: int) -> bool:
    """Tell whether a line that ends before ``end`` has one of NeMo Curator's ellipses last."""
    last = byte_at(data, end - 1)
    size = end - begin
    if last == 46:  # .
        if size < 3 or byte_at(data, end - 2) != 46:
            return False
        return byte_at(data, end - 3) == 46 or _has_read_more(data, begin, end - 2)
    if last == 93 or last == 41:  # ] )
        key = np.int64(0)
        for i in range(max(begin, end - 5), end):
            key = (key << 8) | byte_at(data, i)
        return key == _SQUARE_DOTS or key == _ROUND_DOTS or key == _SQUARE_ELLIPSIS
    if last == 0xA6:
        return size >= 3 and byte_at(data, end - 3) == 0xE2 and byte_at(data, end - 2) == 0x80
    if last == 0xBB:
        return size >= 3 and byte_at(data, end - 3) == 45 and byte_at(data, end - 2) == 0xC2
    return (last == 101 or last == 69) and _has_read_more(data, begin, end)  # e E


@inlined
def _has_read_more(data: NDArray[np.uint8], begin: int, end: int) -> bool:
    start = end - _READ_MORE.size
    if start < begin:
        return False
    for i in range(_READ_MORE.size):
        byte = byte_at(data, start + i)
        if 65 <= byte <= 90:
            byte += 32
        if byte != _READ_MORE[i]:
            return False
    return True


@inlined
def _address_end(data: NDArray[np.uint8], start: int, end: int, url_bytes: NDArray[np.bool_]) -> int:
    """Return where the address that starts at an ``h`` ends; ``start`` itself where there is none."""
    if byte_at(data, start + 1) != 116 or byte_at(data, start + 2) != 116 or byte_at(data, start + 3) != 112:  # ttp
        return start
    i = start + 4
    if byte_at(data, i) == 115:  # s
        i += 1
    if i + 3 >= end or byte_at(data, i) != 58 or byte_at(data, i + 1) != 47 or byte_at(data, i + 2) != 47:  # ://
        return start
    i += 3
    first = i
    while i < end:
        byte = byte_at(data, i)
        if url_bytes[byte]:
            i += 1
        elif byte == 37 and i + 2 < end and _is_hex(byte_at(data, i + 1)) and _is_hex(byte_at(data, i + 2)):
            i += 3
        else:
            break
    return start if i == first else i


@inlined
def _is_hex(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= byte <= 70 or 97 <= byte <= 102


@kernel
def surface_counts(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    stops: NDArray[np.uint8],
    first_sums: NDArray[np.uint64],
    second_sums: NDArray[np.uint64],
    url_bytes: NDArray[np.bool_],
    counts: NDArray[np.int64],
) -> None:
    """Fill one column of ``counts`` for every document.

    Args:
        data: UTF-8 bytes of the documents.
        offsets: Where they start and end.
        rows: Documents to count.
        kinds: Kind of every code point.
        stops: For every byte, why to stop at it inside a word; zero for most of ASCII.
        first_sums: For every ASCII byte, one if content, and one in the upper half if a digit.
        second_sums: For every ASCII byte, one if a bracket, and one in the upper half if a letter.
        url_bytes: Which bytes an address consists of, but for the per cent sign.
        counts: One row per metric, one column per document.
    """
    low = np.uint64(0xFFFFFFFF)
    for number in range(rows.size):
        row = rows[number]
        begin, end = offsets[row], offsets[row + 1]
        first = np.uint64(0)
        second = np.uint64(0)
        continuation = content = digits = brackets = letters = blanks = newlines = url_chars = 0
        words = word_chars = longest = lettered = symbols = common = 0
        lines = bullet_lines = ended = ellipses = 0
        line_has_word = False
        word_end = url_end = begin
        i = begin
        while i < end:
            # White space up to the next word.
            byte = byte_at(data, i)
            stop = stops[byte]
            if stop & STOP_AT_SPACE:
                if byte == 10:
                    newlines += 1
                    blanks += 1
                    if line_has_word:
                        lines += 1
                        ended += _has_end_mark(data, word_end)
                        ellipses += _has_ellipsis(data, begin, word_end)
                        line_has_word = False
                elif byte == 32 or byte == 9 or byte == 13:
                    blanks += 1
                i += 1
                continue
            if stop & STOP_AT_MULTI_BYTE:
                point, width = decode(data, i)
                if kinds[point] & SPACE:
                    continuation += width - 1
                    i += width
                    continue
                if not line_has_word and kinds[point] & BULLET:
                    bullet_lines += 1
            # A word.
            start = i
            second_before = second
            continuation_before = continuation
            letters_before = letters
            hash_runs = 0
            key = np.int64(0)
            while i < end:
                byte = byte_at(data, i)
                stop = stops[byte]
                if stop != 0:
                    if stop & STOP_AT_SPACE:
                        break
                    if stop & STOP_AT_MULTI_BYTE:
                        point, width = decode(data, i)
                        kind = kinds[point]
                        if kind & SPACE:
                            break
                        continuation += width - 1
                        if kind != 0:
                            content += (kind & CONTENT) != 0
                            digits += (kind & DIGIT) != 0
                            letters += (kind & LETTER) != 0
                            brackets += (kind & BRACKET) != 0
                        for _ in range(width):
                            key = (key << 8) | byte_at(data, i)
                            i += 1
                        continue
                    if byte == 35:  # a run of # is counted where it begins
                        hash_runs += i == start or byte_at(data, i - 1) != 35
                    elif byte == 104:
                        if i >= url_end and i + 8 <= end:
                            url_end = _address_end(data, i, end, url_bytes)
                            url_chars += url_end - i
                    else:  # backspace, which is no white space to str.split
                        blanks += 1
                first += first_sums[byte]
                second += second_sums[byte]
                key = (key << 8) | byte
                i += 1
            size = i - start
            length = size - (continuation - continuation_before)
            words += 1
            word_chars += length
            longest = max(longest, length)
            lettered += letters != letters_before or (second >> np.uint64(32)) != (second_before >> np.uint64(32))
            if size <= 5:
                common += _is_common(key, size)
                symbols += hash_runs * 2 > length or _is_ellipsis(key, size)
            elif hash_runs:
                symbols += hash_runs * 2 > length
            line_has_word = True
            word_end = i
        if line_has_word:
            lines += 1
            ended += _has_end_mark(data, word_end)
            ellipses += _has_ellipsis(data, begin, word_end)
        ascii_content = np.int64(first & low) + newlines
        counts[0, row] = end - begin - continuation
        counts[1, row] = ascii_content
        counts[2, row] = ascii_content + content
        counts[3, row] = np.int64(first >> np.uint64(32)) + digits
        counts[4, row] = blanks
        counts[5, row] = np.int64(second & low) + brackets
        counts[6, row] = np.int64(second >> np.uint64(32)) + letters
        counts[7, row] = url_chars
        counts[8, row] = newlines
        counts[9, row] = words
        counts[10, row] = word_chars
        counts[11, row] = longest
        counts[12, row] = lettered
        counts[13, row] = symbols
        counts[14, row] = common
        counts[15, row] = lines
        counts[16, row] = bullet_lines
        counts[17, row] = ended
        counts[18, row] = ellipses
