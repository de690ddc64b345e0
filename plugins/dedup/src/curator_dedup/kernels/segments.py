"""Lines and paragraphs of documents: where they are, and documents without some of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined, kernel

__all__ = ["split_segments", "without_segments"]

_NEWLINE, _RETURN, _SPACE, _TAB = 10, 13, 32, 9


@kernel
def split_segments(data: Any, offsets: Any, by_paragraph: Any) -> Any:
    """Return where the lines, or paragraphs, of documents begin and end, and how many each document has.

    Lines are the text between newlines, paragraphs the text between empty lines. Spaces at the ends of a segment
    do not count. Only segments with anything in them are found.
    """
    documents = len(offsets) - 1
    capacity = 1024
    begins = np.empty(capacity, np.int64)
    ends = np.empty(capacity, np.int64)
    counts = np.zeros(documents, np.int64)
    total = 0
    for document in range(documents):
        position, stop = offsets[document], offsets[document + 1]
        while position < stop:
            while position < stop and _is_blank(data[position]):
                position += 1
            if position >= stop:
                break
            begin = position
            last = position
            newlines = 0
            while position < stop:
                byte = data[position]
                if byte == _NEWLINE:
                    newlines += 1
                    if not by_paragraph or newlines > 1:
                        break
                elif not _is_blank(byte):
                    newlines = 0
                    last = position
                position += 1
            if total == capacity:
                capacity *= 2
                begins = _longer(begins, capacity)
                ends = _longer(ends, capacity)
            begins[total], ends[total] = begin, last + 1
            counts[document] += 1
            total += 1
    return begins[:total], ends[:total], counts


@kernel
def without_segments(data: Any, offsets: Any, begins: Any, ends: Any, counts: Any, is_removed: Any) -> Any:
    """Return the bytes and offsets of documents without some of their segments.

    Text between two segments stays between the remaining ones; a document without removed segments stays as it is.
    """
    documents = len(offsets) - 1
    out = np.empty(offsets[documents] - offsets[0], np.uint8)
    out_offsets = np.zeros(documents + 1, np.int64)
    size = 0
    segment = 0
    for document in range(documents):
        begin, stop = offsets[document], offsets[document + 1]
        lost = 0
        for index in range(segment, segment + counts[document]):
            lost += is_removed[index]
        if lost == 0:
            out[size : size + stop - begin] = data[begin:stop]
            size += stop - begin
        else:
            is_first = True
            for index in range(segment, segment + counts[document]):
                if is_removed[index]:
                    continue
                start = begins[index]
                if not is_first:  # with the gap before it
                    start = ends[index - 1]
                length = ends[index] - start
                out[size : size + length] = data[start : ends[index]]
                size += length
                is_first = False
        segment += counts[document]
        out_offsets[document + 1] = size
    return out[:size], out_offsets


@inlined
def _is_blank(byte: Any) -> Any:
    return byte in (_SPACE, _NEWLINE, _RETURN, _TAB)


@inlined
def _longer(values: Any, capacity: Any) -> Any:
    larger = np.empty(capacity, np.int64)
    larger[: len(values)] = values
    return larger
