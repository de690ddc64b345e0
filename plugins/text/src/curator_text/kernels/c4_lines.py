"""Edit and judge the lines of documents by the rules of C4.

Lines that pass the rules about their form are copied, without citations, one behind the other. Phrases are searched in
the copy, so that they are found even if a citation interrupted them.
"""

from __future__ import annotations

import numpy as np

from curator_text.kernels.characters import DIGIT, SPACE
from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.line_metrics import is_mark, skip_space, skip_space_back
from curator_text.kernels.utf8 import kind_at, width_at
from curator_text.kernels.vector import (
    byte_at,
    equal_bits,
    equal_lower_bits,
    first_bit,
    high_bits,
    in_range_bits,
    load_8,
    put_byte,
    put_int64,
)

__all__ = ["CURLY_BRACKET", "LOREM_IPSUM", "edit_lines", "join_lines", "judge_lines"]

LOREM_IPSUM, CURLY_BRACKET = 1, 2
"""Why a document is dropped."""

_ONE = np.uint64(1)
_NONE = np.uint64(0)
_CLOSE = 0x5D


@inlined
def copy_bytes(source, start, end, target, at):
    """Copy bytes, and up to seven more behind them, and return where the copy ends."""
    stop = at + end - start
    while start < end:
        put_int64(target + at, 0, np.int64(load_8(source, start)))
        start += 8
        at += 8
    return stop


@inlined
def _matches(data, at, end, lower_text, size):
    """Return whether a text (in lower case) is at ``at``, in any case."""
    if at + size > end:
        return False
    for i in range(size):
        byte = byte_at(data, at + i)
        if 0x41 <= byte <= 0x5A:
            byte |= 0x20
        if byte != byte_at(lower_text, i):
            return False
    return True


@inlined
def _citation_length(data, at, end, tables):
    """Return the bytes of the citation mark at ``at``: [], [12], [edit] or [citation needed]; zero for none."""
    stop = at + 1
    while stop < end and kind_at(data, stop, tables[0], tables[1]) & DIGIT:
        stop += width_at(data, stop)
    if stop < end and byte_at(data, stop) == _CLOSE:
        return stop + 1 - at
    edit = tables[2]
    for size, text in ((6, edit), (17, edit + 6)):
        is_same = at + size <= end
        i = 0
        while is_same and i < size:
            is_same = byte_at(data, at + i) == byte_at(text, i)
            i += 1
        if is_same:
            return size
    return 0


@inlined
def _has_words(data, start, end, tables, min_words, max_word_length):
    """Return whether no word is too long, and whether there are enough words."""
    words = 0
    at = start
    # A line with fewer bytes has no word with more characters.
    look_at_lengths = max_word_length >= 0 and end - start > max_word_length
    while at < end:
        at = skip_space(data, at, end, tables[0], tables[1])
        if at == end:
            break
        words += 1
        if not look_at_lengths and words >= min_words:
            return True, True
        length = 0
        while at < end and not kind_at(data, at, tables[0], tables[1]) & SPACE:
            at += width_at(data, at)
            length += 1
        if look_at_lengths and length > max_word_length:
            return False, False
    return True, words >= min_words


@inlined
def _ends_well(data, start, end):
    """Return whether bytes end with a mark that ends sentences or a quotation mark, but not with three full stops."""
    if end == start:
        return False
    last = byte_at(data, end - 1)
    if last == 0x2E:
        return not (end - start >= 3 and byte_at(data, end - 2) == 0x2E and byte_at(data, end - 3) == 0x2E)
    return last == 0x3F or last == 0x21 or last == 0x22 or last == 0x27


@inlined
def _edit_line(data, start, end, tables, options, buffer, used):
    """Copy a line that passes and return where the copy ends; a negative number where it does not pass."""
    start = skip_space(data, start, end, tables[0], tables[1])
    end = skip_space_back(data, start, end, tables[0], tables[1])
    remove_citations, need_end_mark, min_words, max_word_length = options
    no_long_word, has_words = _has_words(data, start, end, tables, min_words, max_word_length)
    if not no_long_word:
        return -1
    if need_end_mark and not remove_citations and not _ends_well(data, start, end):
        return -1
    if need_end_mark and end > start and byte_at(data, end - 1) != _CLOSE and not _ends_well(data, start, end):
        return -1  # no citation at the end hides an end mark
    if not has_words:
        return -1
    at = start
    done = start
    stop = used
    if remove_citations:
        while at < end:
            found = equal_bits(data, at, 0x5B)
            if end - at < 64:
                found &= (_ONE << np.uint64(end - at)) - _ONE
            if not found:
                at += 64
                continue
            at += first_bit(found)
            length = _citation_length(data, at, end, tables)
            if length:
                stop = copy_bytes(data, done, at, buffer, stop)
                at += length
                done = at
            else:
                at += 1
    stop = copy_bytes(data, done, end, buffer, stop)
    if need_end_mark and not _ends_well(buffer, used, stop):
        return -1
    return stop


@kernel
def edit_lines(data, offsets, rows, tables, options, buffer, line_ends, first_lines):
    """Copy the lines that pass, without citations, and return their number.

    Args:
        data: Bytes of the documents; 64 more can be read behind the last.
        offsets: Where documents start.
        rows: The documents.
        tables: Pages and kinds of characters, and the bytes ``[edit][citation needed]``.
        options: Whether to remove citations, whether a line needs an end mark, fewest words, most characters of a
            word (negative for any).
        buffer: Written: the lines. As many bytes as the documents have and 64 more.
        line_ends: Written: zero, and where each line ends in ``buffer``.
        first_lines: Written: the number of the first line of each document, and of all lines.
    """
    text = np.int64(data.ctypes.data)
    lookup = (np.int64(tables[0].ctypes.data), np.int64(tables[1].ctypes.data), np.int64(tables[2].ctypes.data))
    copy = np.int64(buffer.ctypes.data)
    number = 0
    used = np.int64(0)
    line_ends[0] = 0
    for i in range(rows.size):
        first_lines[i] = number
        begin, end = offsets[rows[i]], offsets[rows[i] + 1]
        start = begin
        for base in range(begin, end, 64):
            valid = ~_NONE if end - base >= 64 else (_ONE << np.uint64(end - base)) - _ONE
            breaks = in_range_bits(text, base, 10, 13) | in_range_bits(text, base, 28, 30)
            breaks &= valid
            if high_bits(text, base) & valid:
                marks = (equal_bits(text, base, 0xC2) | equal_bits(text, base, 0xE2)) & valid
                while marks:
                    position = first_bit(marks)
                    marks &= marks - _ONE
                    at = base + position
                    is_break = byte_at(text, at) == 0xC2 and byte_at(text, at + 1) == 0x85
                    if is_break or is_mark(text, at, 0xA8) or is_mark(text, at, 0xA9):
                        breaks |= _ONE << np.uint64(position)
            while breaks:
                at = base + first_bit(breaks)
                breaks &= breaks - _ONE
                stop = _edit_line(text, start, at, lookup, options, copy, used)
                is_second = at == start and at > begin and byte_at(text, at) == 0x0A and byte_at(text, at - 1) == 0x0D
                if stop >= 0 and not is_second:
                    used = stop
                    number += 1
                    line_ends[number] = used
                start = at + width_at(text, at)
        if start < end:
            stop = _edit_line(text, start, end, lookup, options, copy, used)
            if stop >= 0:
                used = stop
                number += 1
                line_ends[number] = used
    first_lines[rows.size] = number
    return number


@inlined
def _search(data, start, end, phrases, lorem_ipsum, javascript, policy):
    """Look for phrases in a line; return whether lorem ipsum, javascript and a policy are mentioned."""
    has_lorem = has_javascript = has_policy = False
    for base in range(start, end, 64):
        valid = ~_NONE if end - base >= 64 else (_ONE << np.uint64(end - base)) - _ONE
        if javascript:
            found = equal_lower_bits(data, base, 0x6A) & valid
            while found and not has_javascript:
                has_javascript = _matches(data, base + first_bit(found), end, phrases, 10)
                found &= found - _ONE
        if lorem_ipsum:
            found = equal_lower_bits(data, base, 0x69) & equal_lower_bits(data, base + 1, 0x70) & valid
            while found and not has_lorem:
                at = base + first_bit(found) - 6
                has_lorem = at >= start and _matches(data, at, end, phrases + 10, 11)
                found &= found - _ONE
        if policy:
            found = equal_lower_bits(data, base, 0x6F) & equal_lower_bits(data, base + 1, 0x6B) & valid
            while found and not has_policy:
                at = base + first_bit(found) - 2
                if at >= start and _matches(data, at, end, phrases + 21, 6):
                    has_policy = _is_cookie_phrase(data, start, at, end, phrases)
                found &= found - _ONE
            found = equal_lower_bits(data, base, 0x6D) & equal_lower_bits(data, base + 1, 0x73) & valid
            while found and not has_policy:
                at = base + first_bit(found) - 3
                has_policy = at >= start and _matches(data, at, end, phrases + 54, 12)
                found &= found - _ONE
            found = equal_lower_bits(data, base, 0x63) & equal_lower_bits(data, base + 1, 0x79) & valid
            while found and not has_policy:
                at = base + first_bit(found) - 5
                has_policy = at >= start and _matches(data, at, end, phrases + 66, 14)
                found &= found - _ONE
    return has_lorem, has_javascript, has_policy


@inlined
def _is_cookie_phrase(data, start, at, end, phrases):
    """Return whether "cookie" at ``at`` is in a phrase: cookie policy, uses cookies, use of cookies, use cookies."""
    if _matches(data, at, end, phrases + 21, 13):
        return True
    if at + 7 > end or byte_at(data, at + 6) | 0x20 != 0x73:
        return False
    if at - 5 >= start and _matches(data, at - 5, end, phrases + 34, 5):
        return True
    if at - 7 >= start and _matches(data, at - 7, end, phrases + 39, 7):
        return True
    return at - 4 >= start and _matches(data, at - 4, end, phrases + 46, 4)


@kernel
def judge_lines(buffer, line_ends, first_lines, phrases, options, is_kept, verdicts):
    """Check the content of lines: find those to keep, and documents to drop.

    Args:
        buffer: The lines; 64 bytes more can be read.
        line_ends: Zero, and where each line ends.
        first_lines: The number of the first line of each document, and of all lines.
        phrases: Phrases to find (see :data:`curator_text.metrics.c4_lines.PHRASES`).
        options: Whether to look for lorem ipsum, javascript, curly brackets and policies.
        is_kept: Written: whether to keep each line.
        verdicts: Written: why each document is dropped, zero where it is not. The first such line counts.
    """
    data = np.int64(buffer.ctypes.data)
    wanted = np.int64(phrases.ctypes.data)
    lorem_ipsum, javascript, curly_bracket, policy = options
    for document in range(verdicts.size):
        verdict = 0
        for line in range(first_lines[document], first_lines[document + 1]):
            if verdict:
                is_kept[line] = False
                continue
            start, end = line_ends[line], line_ends[line + 1]
            has_curly = False
            if curly_bracket:
                for base in range(start, end, 64):
                    valid = ~_NONE if end - base >= 64 else (_ONE << np.uint64(end - base)) - _ONE
                    has_curly |= (equal_bits(data, base, 0x7B) & valid) != 0
            has_lorem, has_javascript, has_policy = _search(data, start, end, wanted, lorem_ipsum, javascript, policy)
            is_kept[line] = not (has_lorem or has_javascript or has_curly or has_policy)
            if has_lorem:
                verdict = LOREM_IPSUM
            elif has_curly and not has_javascript:
                verdict = CURLY_BRACKET
        verdicts[document] = verdict


@kernel
def join_lines(buffer, line_ends, first_lines, is_kept, wanted, pages, kinds, out, used, ends):
    """Write the text of documents: their lines with line feeds between them, without whitespace around the whole.

    Args:
        buffer: The lines; 64 bytes more can be read.
        line_ends: Zero, and where each line ends.
        first_lines: The number of the first line of each document, and of all lines.
        is_kept: Which lines to write.
        wanted: Which documents to write; the others are empty.
        pages: Pages of the table of characters.
        kinds: Kinds of characters.
        out: Written; with room for 64 bytes more.
        used: Bytes of ``out`` that are written already.
        ends: Written: where each document ends in ``out``.

    Returns:
        Bytes of ``out`` that are written.
    """
    source = np.int64(buffer.ctypes.data)
    target = np.int64(out.ctypes.data)
    pages_at, kinds_at = np.int64(pages.ctypes.data), np.int64(kinds.ctypes.data)
    for document in range(wanted.size):
        begin = used
        if wanted[document]:
            is_first = True
            for line in range(first_lines[document], first_lines[document + 1]):
                if not is_kept[line]:
                    continue
                start, end = line_ends[line], line_ends[line + 1]
                if is_first:
                    start = skip_space(source, start, end, pages_at, kinds_at)
                    is_first = start == end
                    if is_first:
                        continue
                else:
                    put_byte(target, used, 0x0A)
                    used += 1
                used = copy_bytes(source, start, end, target, used)
            used = skip_space_back(target, begin, used, pages_at, kinds_at)
        ends[document] = used
    return used
