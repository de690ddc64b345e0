"""Clusters of duplicates out of pairs, and which document of each is kept. Plain functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Clusters", "KeepRule", "components", "make_clusters"]

KeepRule = Literal["first", "longest", "best"]
"""Which document of a cluster is kept: the first of the input, the one with the most bytes, or the highest score."""


@dataclass(frozen=True)
class Clusters:
    """All documents that have duplicates; of a corpus that is only compared with, those that represent others.

    Args:
        members: Their numbers, sorted.
        kept: For each, the number of the document kept in its place; its own where it is the one.
        sizes: For each, how many documents its cluster has.
    """

    members: NDArray[np.int64]
    kept: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def removed(self) -> NDArray[np.int64]:
        """Numbers of the documents that are not kept, sorted."""
        numbers: NDArray[np.int64] = self.members[self.kept != self.members]
        return numbers


def components(documents: int, pairs: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> NDArray[np.int64]:
    """Return for every document the smallest number in its component.

    >>> components(5, [(np.array([0, 3]), np.array([2, 4]))]).tolist()
    [0, 1, 0, 3, 3]

    Args:
        documents: How many there are.
        pairs: Pairs that belong together, in any number of portions.
    """
    from curator_dedup.kernels.union_find import flatten, unite

    parents = np.arange(documents, dtype=np.int64)
    for first, second in pairs:
        unite(parents, first, second)
    flatten(parents)
    return parents


def make_clusters(
    roots: NDArray[np.int64], preference: NDArray[Any] | None = None, *, is_fixed: NDArray[np.bool_] | None = None
) -> Clusters:
    """Return the clusters of more than one document, and which document of each is kept.

    >>> make_clusters(np.array([0, 1, 0, 3, 3])).kept.tolist()
    [0, 0, 3, 3]

    Args:
        roots: From :func:`components`.
        preference: A number per document: the highest is kept, the first of equal ones. The first unless given.
        is_fixed: Documents that must not be removed (those of a corpus that is only compared with): where a cluster has
            any, the first of them represents all that are not fixed, and the others are left out.
    """
    joined = np.flatnonzero(roots != np.arange(len(roots)))
    is_member = np.zeros(len(roots), bool)
    is_member[joined] = True
    is_member[roots[joined]] = True
    members = np.flatnonzero(is_member)
    of_members = roots[members]
    if preference is None and is_fixed is None:  # a component's root is its first document: nothing to sort
        return Clusters(members, of_members, np.bincount(of_members)[of_members])
    keys: list[NDArray[Any]] = [members]
    if preference is not None:
        wanted = np.asarray(preference, np.float64)[members]
        keys.append(-np.where(np.isnan(wanted), -np.inf, wanted))
    if is_fixed is not None:
        keys.append(~is_fixed[members])
    keys.append(of_members)
    order = np.lexsort(keys)  # by cluster, then the best first
    if is_fixed is not None:
        order = order[_are_first(of_members[order]) | ~is_fixed[members[order]]]
    begins = np.flatnonzero(_are_first(of_members[order]))
    counts = np.diff(np.append(begins, len(order)))
    best = np.repeat(members[order[begins]], counts)
    by_number = np.argsort(order)
    return Clusters(members[order][by_number], best[by_number], np.repeat(counts, counts)[by_number])


def _are_first(ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each of some sorted values whether it is the first of its kind.

    >>> _are_first(np.array([3, 3, 5])).tolist()
    [True, False, True]
    """
    are_first = np.ones(len(ordered), bool)
    are_first[1:] = ordered[1:] != ordered[:-1]
    return are_first
