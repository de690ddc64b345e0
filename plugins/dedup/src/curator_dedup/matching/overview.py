"""An overview of the duplicates of a corpus: sizes of clusters, similarities, and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from curator_dedup.matching.clusters import Clusters

__all__ = ["make_overview", "overview_text"]

_MAX_REPEATED_SHOWN = 5
_SAMPLES = 5
_BINS = 10
_SHOWN_CHARS = 160


def make_overview(
    clusters: Clusters,
    similarity: NDArray[np.float64] | None,
    ids: Callable[[NDArray[np.int64]], Sequence[Any]],
    texts: Callable[[Sequence[int]], Sequence[str | None]],
) -> dict[str, Any]:
    """Return an overview of clusters as plain values, of bounded size.

    Args:
        clusters: The clusters.
        similarity: For each member, the highest similarity found with another; unknown where None.
        ids: Returns the ids of documents by their sorted numbers.
        texts: Returns the beginnings of documents by their numbers, or None where they cannot be had.
    """
    is_kept = clusters.kept == clusters.members
    kept, sizes = clusters.members[is_kept], clusters.sizes[is_kept]
    removed = clusters.members[~is_kept]
    largest = np.argsort(-sizes, kind="stable")[:_MAX_REPEATED_SHOWN]  # the first of equal ones first
    most = kept[largest]
    top = np.sort(most)
    id_of = dict(zip(top.tolist(), ids(top), strict=True))
    size_of = dict(zip(most.tolist(), sizes[largest].tolist(), strict=True))
    overview: dict[str, Any] = {
        "cluster_sizes": _size_histogram(sizes),
        "most_repeated": [
            {"id": id_of[number], "copies": size_of[number], "text": text}
            for number, text in zip(most.tolist(), _shortened(texts(most.tolist())), strict=True)
        ],
        "samples": _samples(clusters, removed, similarity, texts),
    }
    if similarity is not None:
        counts, edges = np.histogram(similarity[~is_kept], bins=_BINS, range=(0.0, 1.0))
        overview["similarity"] = {"edges": [round(float(each), 3) for each in edges], "counts": counts.tolist()}
    return overview


def overview_text(overview: dict[str, Any]) -> str:
    """Return an overview as text."""
    lines = ["cluster sizes: " + ", ".join(f"{name}: {count:,}" for name, count in overview["cluster_sizes"].items())]
    lines += [
        f"  {each['copies']:,} x {each['id']}  {each['text'] or ''}".rstrip() for each in overview["most_repeated"]
    ]
    if overview["samples"]:
        lines.append("removed, and kept in its place:")
    for each in overview["samples"]:
        lines.append(f"  - {each['removed']}")
        lines.append(f"  + {each['kept']}")
    return "\n".join(lines)


def _size_histogram(sizes: NDArray[np.int64]) -> dict[str, int]:
    """Count clusters by size, in powers of two.

    >>> _size_histogram(np.array([2, 2, 3, 9]))
    {'2': 2, '3-4': 1, '9-16': 1}
    """
    histogram: dict[str, int] = {}
    low, high = 2, 2
    while len(sizes) and low <= sizes.max():
        count = int(((sizes >= low) & (sizes <= high)).sum())
        if count:
            histogram[f"{low}-{high}" if high > low else str(low)] = count
        low, high = high + 1, high * 2
    return histogram


def _samples(
    clusters: Clusters,
    removed: NDArray[np.int64],
    similarity: NDArray[np.float64] | None,
    texts: Callable[[Sequence[int]], Sequence[str | None]],
) -> list[dict[str, Any]]:
    """Return some removed documents beside those kept: the least similar ones, which tell most about the threshold."""
    if not len(removed):
        return []
    places = np.searchsorted(clusters.members, removed)
    order = np.arange(len(removed)) if similarity is None else np.argsort(similarity[places], kind="stable")
    chosen = places[order[:_SAMPLES]]
    shown = _shortened(texts([*clusters.members[chosen].tolist(), *clusters.kept[chosen].tolist()]))
    found = []
    for first, second, place in zip(shown[: len(chosen)], shown[len(chosen) :], chosen.tolist(), strict=True):
        if first is not None and second is not None:
            known = None if similarity is None else round(float(similarity[place]), 4)
            found.append({"removed": first, "kept": second, "similarity": known})
    return found


def _shortened(texts: Sequence[str | None]) -> list[str | None]:
    return [None if text is None else " ".join(text.split())[:_SHOWN_CHARS] for text in texts]
