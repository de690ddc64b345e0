"""Make clusters of partners: the document kept in place of each. Plain functions of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from curator_dedup.matching.clusters import Clusters

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["clusters_of_partners"]


def clusters_of_partners(
    document: NDArray[np.int64], partner: NDArray[np.int64], similarity: NDArray[np.float64]
) -> tuple[Clusters, NDArray[np.float64]]:
    """Return the clusters that rows and their partners make, and the similarity of each member to its partner.

    A row that has a partner is removed. The partner may be removed as well; the kept row is at the end of the chain.
    Partners come before their rows in one order of all rows, so that chains have an end.

    >>> clusters, _ = clusters_of_partners(np.array([2, 1, 1]), np.array([1, 0, 5]), np.array([0.97, 0.99, 0.96]))
    >>> clusters.members.tolist(), clusters.kept.tolist(), clusters.sizes.tolist()
    ([0, 1, 2], [0, 0, 0], [3, 3, 3])

    Args:
        document: Rows that have a partner; one that was in two clusters may come twice.
        partner: Their partners.
        similarity: How similar they are.
    """
    order = np.lexsort((partner, -similarity, document))
    document, partner, similarity = document[order], partner[order], similarity[order]
    is_best = np.diff(document, prepend=-1) != 0
    document, partner, similarity = document[is_best], partner[is_best], similarity[is_best]
    members = np.union1d(document, partner)
    target = np.arange(len(members))
    target[np.searchsorted(members, document)] = np.searchsorted(members, partner)
    while True:  # each round halves the length of the chains
        further = target[target]
        if (further == target).all():
            break
        target = further
    sizes = np.bincount(target, minlength=len(members))[target]
    highest = np.zeros(len(members))
    highest[np.searchsorted(members, document)] = similarity
    return Clusters(members, members[target], sizes), highest
