"""Count lines and paragraphs, and the different ones among them, by 64-bit hashes of their bytes."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_text.kernels.bytes_at import byte_at
from curator_text.kernels.code_points import is_space, size_of_space
from curator_text.kernels.compiling import inlined, kernel
from curator_text.kernels.rolling_hash import SEED, finish, mix

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["repeat_counts"]

_FEW = 12
"""Up to so many, comparing each with each is faster than a hash table."""


@kernel
def repeat_counts(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Fill ``counts[unit, :, document]`` for lines (unit 0) and paragraphs (unit 1).

    Args:
        data: UTF-8 bytes of the documents.
        offsets: Where they start and end.
        rows: Documents to count.
        counts: For each unit: how many, how many different, characters in all, characters in different ones.
    """
    line_hashes = np.empty(64, dtype=np.uint64)
    line_chars = np.empty(64, dtype=np.int64)
    part_hashes = np.empty(64, dtype=np.uint64)
    part_chars = np.empty(64, dtype=np.int64)
    table = np.empty(64, dtype=np.int32)
    for number in range(rows.size):
        row = rows[number]
        i, end = offsets[row], offsets[row + 1]
        lines = parts = 0
        part_hash = SEED
        chars_of_part = 0
        while True:
            start = i
            hashed = SEED
            continuation = 0
            while i < end:
                byte = byte_at(data, i)
                if byte == 10:
                    break
                hashed = mix(hashed, byte)
                continuation += (byte & 0xC0) == 0x80
                i += 1
            hashed = finish(hashed)
            chars = i - start - continuation
            if not _is_blank(data, start, i):
                if lines == line_hashes.size:
                    line_hashes = np.concatenate((line_hashes, line_hashes))
                    line_chars = np.concatenate((line_chars, line_chars))
                line_hashes[lines] = hashed
                line_chars[lines] = chars
                lines += 1
            part_hash = mix(part_hash, hashed)
            chars_of_part += chars
            ends_here = i == end or (i + 1 < end and byte_at(data, i + 1) == 10)
            if ends_here:
                if parts == part_hashes.size:
                    part_hashes = np.concatenate((part_hashes, part_hashes))
                    part_chars = np.concatenate((part_chars, part_chars))
                part_hashes[parts] = finish(part_hash)
                part_chars[parts] = chars_of_part
                parts += 1
                part_hash = SEED
                chars_of_part = 0
                if i == end:
                    break
                i += 2
            else:
                chars_of_part += 1  # the newline inside
                i += 1
        slots = 64
        while slots < 2 * max(lines, parts):
            slots *= 2
        if table.size < slots:
            table = np.empty(slots, dtype=np.int32)
        _count_distinct(line_hashes[:lines], line_chars, table, counts[0, :, row])
        _count_distinct(part_hashes[:parts], part_chars, table, counts[1, :, row])


@inlined
def _is_blank(data, i, end):
    while i < end:
        if byte_at(data, i) < 0x80:
            size = 1 if is_space(byte_at(data, i)) else 0
        else:
            size = size_of_space(data, i)
        if size == 0:
            return False
        i += size
    return True


@inlined
def _count_distinct(
    hashes: NDArray[np.uint64], chars: NDArray[np.int64], table: NDArray[np.int32], counts: NDArray[np.int64]
) -> None:
    slots = 64
    while slots < 2 * hashes.size:
        slots *= 2
    if hashes.size > _FEW:
        table[:slots] = -1
    distinct = all_chars = distinct_chars = 0
    for at in range(hashes.size):
        all_chars += chars[at]
        is_new = True
        if hashes.size <= _FEW:
            for other in range(at):
                if hashes[other] == hashes[at]:
                    is_new = False
                    break
        else:
            slot = np.int64(hashes[at] & np.uint64(slots - 1))
            while table[slot] >= 0:
                if hashes[table[slot]] == hashes[at]:
                    is_new = False
                    break
                slot = (slot + 1) & (slots - 1)
            if is_new:
                table[slot] = at
        if is_new:
            distinct += 1
            distinct_chars += chars[at]
    counts[0] = hashes.size
    counts[1] = distinct
    counts[2] = all_chars
    counts[3] = distinct_chars
