"""Sort records with repeated keys, the rest of millions of keys, before documents are paired."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined, kernel

__all__ = ["chosen_records", "gather_sorted", "tagged_keys"]

_FEW = 16
"""So many records are sorted by inserting one after the other."""


@kernel
def chosen_records(is_chosen: Any, keys: Any, marks: Any, documents: Any) -> Any:
    """Return the keys, marks and documents that are chosen, in the order they had."""
    count = 0
    for index in range(len(keys)):
        count += is_chosen[index]
    chosen_keys = np.empty(count, keys.dtype)
    chosen_marks = np.empty(count, marks.dtype)
    chosen_documents = np.empty(count, documents.dtype)
    position = 0
    for index in range(len(keys)):
        if is_chosen[index]:
            chosen_keys[position] = keys[index]
            chosen_marks[position] = marks[index]
            chosen_documents[position] = documents[index]
            position += 1
    return chosen_keys, chosen_marks, chosen_documents


@kernel
def tagged_keys(keys: Any, bits: Any) -> Any:
    """Return numbers that sort as keys do: their upper bits, and in the others the place of each, so ties keep order.

    Args:
        keys: 64 bits each.
        bits: How many bits a place needs.
    """
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    tagged = np.empty(len(keys), np.uint64)
    for index in range(len(keys)):
        tagged[index] = keys[index] & ~mask | np.uint64(index)
    return tagged


@kernel
def gather_sorted(tagged: Any, bits: Any, keys: Any, marks: Any, documents: Any) -> Any:
    """Return records in the order of sorted :func:`tagged_keys`, those of one key by mark and then as they came."""
    mask = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    total = len(tagged)
    sorted_keys = np.empty(total, keys.dtype)
    sorted_marks = np.empty(total, marks.dtype)
    sorted_documents = np.empty(total, documents.dtype)
    for index in range(total):
        place = tagged[index] & mask
        sorted_keys[index] = keys[place]
        sorted_marks[index] = marks[place]
        sorted_documents[index] = documents[place]
    begin = 0
    while begin < total:
        end = begin + 1
        is_mixed = False
        while end < total and sorted_keys[end] & ~mask == sorted_keys[begin] & ~mask:
            is_mixed |= sorted_keys[end] != sorted_keys[begin]
            end += 1
        if is_mixed:  # keys that differ only where the places were
            order = np.argsort(sorted_keys[begin:end], kind="mergesort")
            sorted_keys[begin:end] = sorted_keys[begin:end][order]
            sorted_marks[begin:end] = sorted_marks[begin:end][order]
            sorted_documents[begin:end] = sorted_documents[begin:end][order]
        first = begin
        for index in range(begin + 1, end + 1):
            if index == end or sorted_keys[index] != sorted_keys[first]:
                _sort_by_mark(sorted_marks, sorted_documents, first, index)
                first = index
        begin = end
    return sorted_keys, sorted_marks, sorted_documents


@inlined
def _sort_by_mark(marks: Any, documents: Any, begin: Any, end: Any) -> None:
    """Sort the records from one place to another by mark; those of one mark stay in order."""
    if end - begin <= _FEW:
        for index in range(begin + 1, end):
            mark, document = marks[index], documents[index]
            place = index
            while place > begin and marks[place - 1] > mark:
                marks[place], documents[place] = marks[place - 1], documents[place - 1]
                place -= 1
            marks[place], documents[place] = mark, document
        return
    order = np.argsort(marks[begin:end], kind="mergesort")
    marks[begin:end] = marks[begin:end][order]
    documents[begin:end] = documents[begin:end][order]
