"""Count the metrics of lines and paragraphs for Gopher's, FineWeb's and other rules."""

from __future__ import annotations

import numpy as np

from curator_text.kernels.characters import SPACE, TERMINAL
from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.hashing import hash_bytes, slot_of
from curator_text.kernels.utf8 import kind_at, kind_before, start_before, width_at
from curator_text.kernels.vector import byte_at, count_bits, equal_bits, first_bit, high_bits, in_range_bits, trail_bits

__all__ = ["LINE_COLUMNS", "is_mark", "measure_lines", "skip_space", "skip_space_back"]

LINE_COLUMNS = (
    "chars",
    "newlines",
    "hashes",
    "ellipses",
    "lines",
    "bullet_lines",
    "ellipsis_lines",
    "full_lines",
    "ended_lines",
    "short_lines",
    "repeated_full_line_chars",
    "split_lines",
    "repeated_lines",
    "repeated_line_chars",
    "paragraphs",
    "repeated_paragraphs",
    "repeated_paragraph_chars",
)

_ONE = np.uint64(1)
_NONE = np.uint64(0)


@inlined
def skip_space(data, at, end, pages, kinds):
    """Return where the first character from ``at`` is that is not whitespace; ``end`` where there is none."""
    while at < end:
        byte = byte_at(data, at)
        if 0x20 < byte < 0x7F:
            return at
        if not kind_at(data, at, pages, kinds) & SPACE:
            return at
        at += width_at(data, at)
    return at


@inlined
def skip_space_back(data, first, at, pages, kinds):
    """Return where the last character before ``at`` ends that is not whitespace; ``first`` where there is none."""
    while at > first:
        byte = byte_at(data, at - 1)
        if 0x20 < byte < 0x7F:
            return at
        start = start_before(data, first, at)
        if not kind_at(data, start, pages, kinds) & SPACE:
            return at
        at = start
    return at


@inlined
def is_mark(data, at, last_byte):
    """Return whether U+20xx with a certain last byte is at ``at``."""
    return byte_at(data, at) == 0xE2 and byte_at(data, at + 1) == 0x80 and byte_at(data, at + 2) == last_byte


@inlined
def _starts_with_bullet(data, start, end, pages, kinds):
    at = skip_space(data, start, end, pages, kinds)
    return at < end and (byte_at(data, at) == 0x2D or (at + 3 <= end and is_mark(data, at, 0xA2)))


@inlined
def _ends_with_ellipsis(data, start, end, pages, kinds):
    at = skip_space_back(data, start, end, pages, kinds)
    if at - start < 3:
        return False
    is_dots = byte_at(data, at - 1) == 0x2E and byte_at(data, at - 2) == 0x2E and byte_at(data, at - 3) == 0x2E
    return is_dots or is_mark(data, at - 3, 0xA6)


@inlined
def _count_characters(data, start, end):
    count = 0
    for at in range(start, end):
        if byte_at(data, at) & 0xC0 != 0x80:
            count += 1
    return count


@inlined
def _clear_table(count, table):
    """Return the bits of a table that ``count`` entries half fill, and set it to zero."""
    bits = 2
    while (1 << bits) < 2 * count:
        bits += 1
    table[: 1 << bits] = 0
    return bits


@inlined
def _was_seen(value, bits, table):
    """Return whether a hash is in a table, and add it."""
    value |= _ONE  # zero is a free entry
    mask = (1 << bits) - 1
    slot = slot_of(value, bits)
    while table[slot]:
        if table[slot] == value:
            return True
        slot = (slot + 1) & mask
    table[slot] = value
    return False


@kernel
def measure_lines(data, offsets, rows, pages, kinds, short_line, out):
    """Fill a column of ``out`` for each document, with :data:`LINE_COLUMNS`.

    ``lines`` are those of ``str.splitlines``; all else is about the pieces between line feeds. ``full_lines`` have
    something beside whitespace. ``split_lines`` are what is between runs of line feeds, and ``paragraphs`` what is
    between runs of two and more, of the text without the whitespace around it. Of what occurs several times, all but
    the first are ``repeated``.

    Args:
        data: Bytes of the documents; 64 more can be read behind the last.
        offsets: Where documents start.
        rows: The documents.
        pages: Pages of the table of characters.
        kinds: Kinds of characters.
        short_line: Maximum number of characters of a short line.
        out: Result.
    """
    text = np.int64(data.ctypes.data)
    pages_at = np.int64(pages.ctypes.data)
    kinds_at = np.int64(kinds.ctypes.data)
    room = 256
    starts = np.empty(room, np.int64)
    ends = np.empty(room, np.int64)
    firsts = np.empty(room, np.int64)  # characters before the line
    chars = np.empty(room, np.int64)
    table = np.empty(4 * room, np.uint64)
    for row in rows:
        begin, end = offsets[row], offsets[row + 1]
        if (end - begin) // 2 + 1 > room:
            room = (end - begin) // 2 + 1
            starts = np.empty(room, np.int64)
            ends = np.empty(room, np.int64)
            firsts = np.empty(room, np.int64)
            chars = np.empty(room, np.int64)
            table = np.empty(4 * room, np.uint64)
        newlines = hashes = ellipses = lines = bullets = ellipsis_lines = 0
        number = 0  # pieces between line feeds that are not empty
        trails = 0  # bytes so far that are not the first of a character
        line_start = segment_start = begin
        line_first = 0
        dots = 0
        for base in range(begin, end, 64):
            valid = ~_NONE if end - base >= 64 else (_ONE << np.uint64(end - base)) - _ONE
            feeds = equal_bits(text, base, 0x0A) & valid
            breaks = feeds | ((in_range_bits(text, base, 11, 13) | in_range_bits(text, base, 28, 30)) & valid)
            high = high_bits(text, base) & valid
            trail = _NONE
            newlines += count_bits(feeds)
            hashes += count_bits(equal_bits(text, base, 0x23) & valid)
            full_stops = equal_bits(text, base, 0x2E) & valid
            if full_stops & ((full_stops << _ONE) | np.uint64(dots > 0)) or dots > 1:
                for position in range(min(64, end - base)):
                    if (full_stops >> np.uint64(position)) & _ONE:
                        dots += 1
                        if dots == 3:
                            ellipses += 1
                            dots = 0
                    else:
                        dots = 0
            else:
                dots = np.int64(full_stops >> np.uint64(63))
            if high:
                trail = trail_bits(text, base) & valid
                marks = (equal_bits(text, base, 0xC2) | equal_bits(text, base, 0xE2)) & valid
                while marks:
                    position = first_bit(marks)
                    marks &= marks - _ONE
                    at = base + position
                    if byte_at(text, at) == 0xC2:
                        if byte_at(text, at + 1) == 0x85:
                            breaks |= _ONE << np.uint64(position)
                    elif is_mark(text, at, 0xA8) or is_mark(text, at, 0xA9):
                        breaks |= _ONE << np.uint64(position)
                    elif is_mark(text, at, 0xA6):
                        ellipses += 1
            while breaks:
                position = first_bit(breaks)
                breaks &= breaks - _ONE
                at = base + position
                is_feed = (feeds >> np.uint64(position)) & _ONE
                if not (is_feed and at == segment_start and at > begin and byte_at(text, at - 1) == 0x0D):
                    lines += 1
                    bullets += _starts_with_bullet(text, segment_start, at, pages_at, kinds_at)
                    ellipsis_lines += _ends_with_ellipsis(text, segment_start, at, pages_at, kinds_at)
                segment_start = at + width_at(text, at)
                if is_feed:
                    before = at - begin - trails - count_bits(trail & ((_ONE << np.uint64(position)) - _ONE))
                    if at > line_start:
                        starts[number] = line_start
                        ends[number] = at
                        firsts[number] = line_first
                        chars[number] = before - line_first
                        number += 1
                    line_start = at + 1
                    line_first = before + 1
            trails += count_bits(trail)
        total = end - begin - trails
        if segment_start < end:
            lines += 1
            bullets += _starts_with_bullet(text, segment_start, end, pages_at, kinds_at)
            ellipsis_lines += _ends_with_ellipsis(text, segment_start, end, pages_at, kinds_at)
        if line_start < end:
            starts[number] = line_start
            ends[number] = end
            firsts[number] = line_first
            chars[number] = total - line_first
            number += 1

        full = ended = short = repeated_full_chars = repeated = repeated_chars = 0
        bits = _clear_table(number, table)
        for i in range(number):
            length = chars[i]
            is_full = skip_space(text, starts[i], ends[i], pages_at, kinds_at) < ends[i]
            if is_full:
                full += 1
                short += length <= short_line
                ended += (kind_before(text, starts[i], ends[i], pages_at, kinds_at) & TERMINAL) != 0
            if number > 1 and _was_seen(hash_bytes(text, starts[i], ends[i]), bits, table):
                repeated += 1
                repeated_chars += length
                repeated_full_chars += length if is_full else 0
        has_first_empty = end > begin and byte_at(text, begin) == 0x0A
        has_last_empty = end > begin and byte_at(text, end - 1) == 0x0A

        # Paragraphs: lines with one line feed between them go together.
        paragraphs = repeated_paragraphs = repeated_paragraph_chars = 0
        low = skip_space(text, begin, end, pages_at, kinds_at)
        high_end = skip_space_back(text, low, end, pages_at, kinds_at)
        has_gap = False
        for i in range(1, number):
            has_gap |= starts[i] - ends[i - 1] > 1
        if has_gap:
            bits = _clear_table(number, table)
            i = 0
            while i < number:
                if ends[i] <= low or starts[i] >= high_end:
                    i += 1
                    continue
                last = i
                while last + 1 < number and starts[last + 1] - ends[last] == 1 and starts[last + 1] < high_end:
                    last += 1
                start, stop = max(starts[i], low), min(ends[last], high_end)
                length = firsts[last] + chars[last] - firsts[i]
                length -= _count_characters(text, starts[i], start) + _count_characters(text, stop, ends[last])
                paragraphs += 1
                if _was_seen(hash_bytes(text, start, stop), bits, table):
                    repeated_paragraphs += 1
                    repeated_paragraph_chars += length
                i = last + 1

        out[0, row] = total
        out[1, row] = newlines
        out[2, row] = hashes
        out[3, row] = ellipses
        out[4, row] = lines
        out[5, row] = bullets
        out[6, row] = ellipsis_lines
        out[7, row] = full
        out[8, row] = ended
        out[9, row] = short
        out[10, row] = repeated_full_chars
        out[11, row] = max(1, number + has_first_empty + has_last_empty)
        out[12, row] = repeated + (has_first_empty and has_last_empty)
        out[13, row] = repeated_chars
        out[14, row] = max(1, paragraphs)
        out[15, row] = repeated_paragraphs
        out[16, row] = repeated_paragraph_chars
