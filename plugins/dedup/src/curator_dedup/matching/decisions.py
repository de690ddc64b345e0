"""The decisions about the documents of a corpus, on disk: the clusters, and the table of duplicates."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curator_core.sdk import open_filesystem
from curator_dedup.cache_files import load_array, read_columns, save_array
from curator_dedup.index import Index
from curator_dedup.matching.clusters import Clusters
from curator_table import write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from curator_dedup.matching.place_ids import PlaceIds
    from curator_dedup.numbering import Batch

__all__ = ["document_column", "ids_of", "read_clusters", "read_kept_ids", "write_decisions"]

_PARTS = ("members", "kept", "sizes")
_MOST_INT32 = 1 << 31


def write_decisions(
    path: str,
    clusters: Clusters,
    batches: Sequence[Batch],
    similarity: NDArray[np.float64] | None,
    *,
    place_ids: PlaceIds | None = None,
    earlier: Sequence[str] = (),
) -> tuple[str, int]:
    """Write the clusters and the table of duplicates: ``id``, ``kept_id``, ``similarity``.

    Args:
        path: Folder of the cache.
        clusters: The clusters.
        batches: The batches of all corpora, numbered as the clusters are.
        similarity: For each member of a cluster, the highest similarity found with another; unknown where None.
        place_ids: Ids by file and place, where all documents have these; else they are looked up in the batches.
        earlier: Caches of the corpora that this one is compared with, whose batches come first.

    Returns:
        The path of the table and its number of rows.
    """
    with ThreadPoolExecutor(len(_PARTS)) as pool:  # the disk takes them while the table is made
        saving = [pool.submit(save_array, getattr(clusters, name), f"{path}/cluster-{name}.npy") for name in _PARTS]
        is_removed = clusters.kept != clusters.members
        if place_ids is None:
            ids, kept_ids = _looked_up(clusters, is_removed, batches)
            kept_ids = _still_there(kept_ids, clusters.kept[is_removed], earlier)
        else:
            ids, kept_ids = (place_ids.of(numbers[is_removed]) for numbers in (clusters.members, clusters.kept))
        values = pa.nulls(len(ids), pa.float64()) if similarity is None else pa.array(similarity[is_removed])
        write_parquet(pa.table({"id": ids, "kept_id": kept_ids, "similarity": values}), duplicates_path(path))
        for each in saving:
            each.result()
    return duplicates_path(path), len(ids)


def _looked_up(
    clusters: Clusters, is_removed: NDArray[np.bool_], batches: Sequence[Batch]
) -> tuple[pa.Array, pa.Array]:
    """Return the ids of documents that are removed, and of those kept in their place."""
    ids = ids_of(clusters.members, batches)
    place = np.empty(int(clusters.members[-1]) + 1 if len(ids) else 0, np.int32 if len(ids) < _MOST_INT32 else np.int64)
    place[clusters.members] = np.arange(len(ids))
    kept_place = place[clusters.kept[is_removed]]
    return ids.take(pa.array(np.flatnonzero(is_removed))), ids.take(pa.array(kept_place))


def _still_there(kept_ids: pa.Array, kept: NDArray[np.int64], earlier: Sequence[str]) -> pa.Array:
    """Replace documents that were removed from an earlier corpus by those kept in their place."""
    start = 0
    for folder in earlier:
        end = start + Index.read(folder).documents
        filesystem, inner = open_filesystem(duplicates_path(folder))
        if filesystem.exists(inner):  # not before the corpus was deduplicated itself
            removed = read_columns(duplicates_path(folder), ["id", "kept_id"])
            places = pc.index_in(kept_ids.cast(removed.schema.field("id").type), value_set=removed.column("id"))
            are_gone = pc.and_(places.is_valid(), pa.array((start <= kept) & (kept < end)))
            kept_there = removed.column("kept_id").take(places).combine_chunks().cast(kept_ids.type)
            kept_ids = pc.if_else(are_gone, kept_there, kept_ids)
        start = end
    return kept_ids


def duplicates_path(path: str) -> str:
    """Return where the table of duplicates is."""
    return f"{path}/duplicates.parquet"


def read_clusters(path: str) -> Clusters:
    """Return the clusters that were decided."""
    return Clusters(*(load_array(f"{path}/cluster-{name}.npy") for name in _PARTS))


def read_kept_ids(path: str) -> pa.Array:
    """Return the ids of the documents kept in place of those removed, in the order of the latter."""
    column = read_columns(duplicates_path(path), ["kept_id"]).column("kept_id").combine_chunks()
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def ids_of(numbers: NDArray[np.int64], batches: Sequence[Batch]) -> pa.Array:
    """Return the ids of documents: those of the user's column, else file and place joined by a colon.

    Args:
        numbers: Sorted.
        batches: The batches they are in.
    """
    found = []
    for batch in batches:
        begin, end = np.searchsorted(numbers, [batch.first, batch.first + batch.rows])
        if begin == end:
            continue
        names = ["id"] if "id" in _schema(batch.documents).names else ["source", "row"]
        table = read_columns(batch.documents, names).take(pa.array(numbers[begin:end] - batch.first))
        found.append(_id_column(table))
    if not found:
        return pa.array([], pa.string())
    joined = pa.chunked_array([chunk for each in found for chunk in each.chunks]).combine_chunks()
    return joined.chunk(0) if isinstance(joined, pa.ChunkedArray) else joined


def _id_column(table: pa.Table) -> pa.ChunkedArray:
    if "id" in table.column_names:
        return table.column("id")
    return pc.binary_join_element_wise(
        table.column("source").cast(pa.string()), table.column("row").cast(pa.string()), ":"
    )


def document_column(batches: Sequence[Batch], name: str) -> NDArray[Any]:
    """Return one number for every document: ``size`` or ``score``."""
    parts = [_numbers(read_columns(batch.documents, [name]).column(name)) for batch in batches]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def document_places(batches: Sequence[Batch]) -> Iterator[tuple[pa.ChunkedArray, NDArray[np.int64]]]:
    """Yield for every batch the files and the places in them of its documents."""
    for batch in batches:
        table = read_columns(batch.documents, ["source", "row"])
        yield table.column("source"), table.column("row").to_numpy()


def _schema(path: str) -> pa.Schema:
    filesystem, inner = open_filesystem(path)
    with filesystem.open(inner, "rb") as file:
        return pq.read_schema(file)


def _numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    numbers: NDArray[Any] = (column if column.null_count == 0 else column.cast(pa.float64())).to_numpy()
    return numbers
