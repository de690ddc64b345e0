"""Candidate pairs out of sorted band keys, never all pairs of a large bucket."""

from __future__ import annotations

from typing import Any

import numpy as np

from curator_dedup.kernels.compiling import inlined, kernel

__all__ = ["candidate_edges", "linked_edges", "near_edges", "repeated"]

_ALL_PAIRS = 16
"""A bucket of up to this many different signatures gives all its pairs: at most 120, or 7.5 a document."""
_NEIGHBOURS = 8
"""In a larger bucket, a signature is paired with this many that follow it."""


@kernel
def candidate_edges(keys: Any, marks: Any, documents: Any) -> Any:
    """Return pairs of documents that share a key, the smaller number first.

    Documents with the same key and mark have the same signature and share all their keys. They are linked one to the
    next only under the key of the whole signature (which has but one mark); under the others, the first represents all.

    Args:
        keys: Sorted.
        marks: Sorted within a key.
        documents: Sorted within a key and mark.
    """
    total = len(keys)
    count = 0
    capacity = max(1024, total // 4)
    edges = np.empty((capacity, 2), np.int64)
    members = np.empty(total, np.int64)
    begin = 0
    while begin < total:
        end = begin + 1
        while end < total and keys[end] == keys[begin]:
            end += 1
        if end - begin > 1:
            different = 0
            for position in range(begin, end):
                if position == begin or marks[position] != marks[position - 1]:
                    members[different] = documents[position]
                    different += 1
            links = end - begin - 1 if different == 1 else 0
            span = different - 1 if different <= _ALL_PAIRS else _NEIGHBOURS
            needed = count + links + different * span
            if needed > capacity:
                capacity = max(2 * capacity, needed)
                larger = np.empty((capacity, 2), np.int64)
                larger[:count] = edges[:count]
                edges = larger
            if different == 1:
                for position in range(begin, end - 1):
                    edges[count, 0], edges[count, 1] = documents[position], documents[position + 1]
                    count += 1
            else:
                for first in range(different):
                    for second in range(first + 1, min(different, first + span + 1)):
                        one, other = members[first], members[second]
                        edges[count, 0], edges[count, 1] = min(one, other), max(one, other)
                        count += 1
        begin = end
    return edges[:count]


@kernel
def linked_edges(keys: Any, marks: Any, documents: Any) -> Any:
    """Return pairs that link each document to the next with the same key and mark.

    Args:
        keys: Sorted.
        marks: Sorted within a key.
        documents: Sorted within a key and mark.
    """
    edges = np.empty((len(keys), 2), np.int64)
    count = 0
    for position in range(1, len(keys)):
        if keys[position] == keys[position - 1] and marks[position] == marks[position - 1]:
            edges[count, 0], edges[count, 1] = documents[position - 1], documents[position]
            count += 1
    return edges[:count]


@kernel
def repeated(keys: Any) -> Any:
    """Mark the keys that occur more than once, and a few of those that do not.

    Most keys occur once, and need not be sorted. A table of two bits a slot says so with few mistakes, in two passes.
    """
    slots = 1024
    while slots < 8 * len(keys):
        slots *= 2
    mask = np.uint64(slots - 1)
    seen = np.zeros(slots // 8, np.uint8)
    again = np.zeros(slots // 8, np.uint8)
    for index in range(len(keys)):
        slot = keys[index] & mask
        place, bit = np.int64(slot >> np.uint64(3)), np.uint8(1 << np.int64(slot & np.uint64(7)))
        again[place] |= seen[place] & bit
        seen[place] |= bit
    marks = np.empty(len(keys), np.bool_)
    for index in range(len(keys)):
        slot = keys[index] & mask
        place, bit = np.int64(slot >> np.uint64(3)), np.uint8(1 << np.int64(slot & np.uint64(7)))
        marks[index] = (again[place] & bit) != 0
    return marks


@kernel
def near_edges(keys: Any, marks: Any, documents: Any, max_distance: Any) -> Any:
    """Return pairs of documents with the same key whose marks differ in at most ``max_distance`` bits, and in how many.

    Documents with the same mark are linked one to the next, and the first represents all.

    Args:
        keys: Sorted.
        marks: Sorted within a key.
        documents: Sorted within a key and mark.
        max_distance: How many bits.
    """
    total = len(keys)
    count = 0
    capacity = max(1024, total)
    edges = np.empty((capacity, 3), np.int64)
    firsts = np.empty(total, np.int64)
    begin = 0
    while begin < total:
        end = begin + 1
        while end < total and keys[end] == keys[begin]:
            end += 1
        different = 0
        for position in range(begin, end):
            if position > begin and marks[position] == marks[position - 1]:
                one, other = documents[position - 1], documents[position]
            else:
                firsts[different] = position
                different += 1
                one = other = np.int64(-1)
            for before in range(different - 1 if one < 0 else 0):
                distance = _bits(marks[firsts[before]] ^ marks[position])
                if distance <= max_distance:
                    if count == capacity:
                        capacity *= 2
                        edges = _grown(edges, capacity)
                    pair = documents[firsts[before]], documents[position]
                    edges[count, 0], edges[count, 1], edges[count, 2] = min(pair), max(pair), distance
                    count += 1
            if one >= 0:
                if count == capacity:
                    capacity *= 2
                    edges = _grown(edges, capacity)
                edges[count, 0], edges[count, 1], edges[count, 2] = one, other, 0
                count += 1
        begin = end
    return edges[:count]


@inlined
def _grown(edges: Any, capacity: Any) -> Any:
    larger = np.empty((capacity, edges.shape[1]), np.int64)
    larger[: len(edges)] = edges
    return larger


@inlined
def _bits(value: Any) -> Any:
    value = np.uint64(value)
    value -= value >> np.uint64(1) & np.uint64(0x5555555555555555)
    value = (value & np.uint64(0x3333333333333333)) + (value >> np.uint64(2) & np.uint64(0x3333333333333333))
    value = value + (value >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(value * np.uint64(0x0101010101010101) >> np.uint64(56))
