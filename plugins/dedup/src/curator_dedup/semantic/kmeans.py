"""Spherical k-means: centres such that vectors which are near each other are mostly near the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

__all__ = ["nearest", "spherical_kmeans"]

_ROWS_AT_ONCE = 16384


def spherical_kmeans(
    vectors: NDArray[np.float32], clusters: int, *, iterations: int = 8, seed: int = 0, device: str = "cpu"
) -> NDArray[np.float32]:
    """Return the centres of the clusters, as unit vectors.

    Args:
        vectors: A sample of the corpus, as unit vectors.
        clusters: How many; at most as many as there are vectors.
        iterations: Rounds of assigning vectors and moving centres. The clusters only decide what is compared with what,
            so few rounds are enough.
        seed: Start of the random numbers.
        device: Where to compute.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    points = torch.from_numpy(vectors).to(device)
    clusters = min(clusters, len(points))
    chosen = torch.randperm(len(points), generator=generator)[:clusters]
    centres = points[chosen.to(device)].clone()
    for _ in range(iterations):
        similarity, labels = nearest(points, centres, count=1)
        labels = labels[:, 0]
        sums = torch.zeros_like(centres).index_add_(0, labels, points)
        is_empty = torch.bincount(labels, minlength=clusters) == 0
        if bool(is_empty.any()):  # a centre without vectors moves to a vector that is far from its own centre
            lonely = torch.argsort(similarity[:, 0])[: int(is_empty.sum())]
            sums[is_empty] = points[lonely]
        centres = torch.nn.functional.normalize(sums, dim=1)
    found: NDArray[np.float32] = centres.cpu().numpy()
    return found


def nearest(points: torch.Tensor, centres: torch.Tensor, *, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for every point the similarity to its nearest centres and their numbers, nearest first."""
    import torch

    count = min(count, len(centres))
    similarity = torch.empty((len(points), count), device=points.device)
    labels = torch.empty((len(points), count), dtype=torch.int64, device=points.device)
    for begin in range(0, len(points), _ROWS_AT_ONCE):
        rows = slice(begin, begin + _ROWS_AT_ONCE)
        products = points[rows] @ centres.T
        if count == 1:
            best = products.max(1, keepdim=True)
            similarity[rows], labels[rows] = best.values, best.indices
        else:
            similarity[rows], labels[rows] = torch.topk(products, count, dim=1)
    return similarity, labels
