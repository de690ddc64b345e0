"""Checking candidates: which documents are looked at again, and in which parts, so that each part fits in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["VerificationPlan", "plan_verification"]

_MIN_PARTS = 8
_SMALL_PART_BYTES = 8 << 20
"""Parts of little text are cut no further, however few they are."""


@dataclass(frozen=True)
class VerificationPlan:
    """The pairs to check, in parts.

    Args:
        first: One document of each pair; pairs are sorted by part, then by it.
        second: The other.
        pair_part: The part of each pair.
        documents: Documents that are needed, sorted; one that several parts need comes several times.
        document_part: The part that needs it.
        parts: How many parts there are.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    pair_part: NDArray[np.int64]
    documents: NDArray[np.int64]
    document_part: NDArray[np.int64]
    parts: int


def plan_verification(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    roots: NDArray[np.int64],
    sizes: NDArray[np.int64],
    *,
    part_bytes: int,
) -> VerificationPlan:
    """Cut candidate pairs into parts, those of one component together as far as they fit.

    Args:
        first: One document of each pair; no pair twice.
        second: The other.
        roots: The component of every document.
        sizes: The bytes of every document.
        part_bytes: How many bytes of documents a part may need; a single pair may need more. Where all need little
            more, parts are smaller, so that several workers share them.
    """
    order = np.lexsort((second, first, roots[first]))
    first, second = first[order], second[order]
    # The first document of a run of pairs is read once, so only a new one counts.
    is_new = np.ones(len(first), bool)
    is_new[1:] = first[1:] != first[:-1]
    cost = sizes[second] + np.where(is_new, sizes[first], 0)
    part_bytes = min(part_bytes, max(_SMALL_PART_BYTES, int(cost.sum()) // _MIN_PARTS))
    pair_part = (np.cumsum(cost) - cost) // part_bytes if len(cost) else np.empty(0, np.int64)
    _, pair_part = np.unique(pair_part, return_inverse=True)
    parts = int(pair_part[-1]) + 1 if len(pair_part) else 0
    # Document and part as one number: sorting rows of two would take ten times as long.
    needed = np.unique(np.concatenate([first, second]) * parts + np.concatenate([pair_part, pair_part]))
    return VerificationPlan(first, second, pair_part, needed // max(1, parts), needed % max(1, parts), parts)
