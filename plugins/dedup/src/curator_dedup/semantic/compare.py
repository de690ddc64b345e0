"""Near-duplicates among the vectors of one cluster: tiled products, so that memory is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["earlier_partner"]

_TILE = 2048


def earlier_partner(vectors: torch.Tensor, min_similarity: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for every vector the most similar one that comes before it, or -1, and their similarity.

    Args:
        vectors: Unit vectors, those to be kept first.
        min_similarity: Minimum similarity that counts.
    """
    import torch

    total = len(vectors)
    partner = torch.full((total,), -1, dtype=torch.int64, device=vectors.device)
    highest = torch.full((total,), min_similarity, dtype=torch.float32, device=vectors.device)
    for begin in range(0, total, _TILE):
        end = min(total, begin + _TILE)
        rows = vectors[begin:end]
        for first in range(0, end, _TILE):
            last = min(end, first + _TILE)
            products = rows @ vectors[first:last].T
            if last > begin:  # the tile on the diagonal: only earlier vectors count
                products = products.tril(begin - first - 1).masked_fill_(
                    torch.ones_like(products, dtype=torch.bool).triu(begin - first), -2.0
                )
            best = products.max(1)
            better = best.values >= highest[begin:end]
            partner[begin:end] = torch.where(better, best.indices + first, partner[begin:end])
            highest[begin:end] = torch.where(better, best.values, highest[begin:end])
    return partner, highest
