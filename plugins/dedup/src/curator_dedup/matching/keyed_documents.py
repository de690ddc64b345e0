"""The first pass: for each batch, a file with the keys of its documents and one with their properties."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curator_core.sdk import (
    ROW_COLUMN,
    SOURCE_COLUMN,
    FileGroupTask,
    FileSlice,
    ProcessingStage,
    StageError,
    TableBatch,
    make_folder,
    part_name,
    remove_parts,
)
from curator_dedup.held_keys import KeyRecords, hold_keys
from curator_dedup.matching.document_file import write_documents
from curator_dedup.shuffle_file import write_partitions, write_shuffled

if TYPE_CHECKING:
    from collections.abc import Collection

    from curator_core.sdk import Columns, NodeInfo, WorkerInfo

__all__ = ["WriteKeys", "content_values", "text_values"]

_RECORD_COLUMNS = ["key", "mark", "document"]


@dataclass
class WriteKeys(ProcessingStage[TableBatch, FileGroupTask]):
    """Base of stages that write the keys of documents, sorted into partitions.

    A keys file has the columns ``key`` (64 bits), ``mark`` and ``document`` (its place in the batch). A documents file
    has for every document its file and place there, ``size`` in bytes, and optionally ``id`` and ``score``.

    Args:
        path: Folder of the cache.
        content_column: Column that is compared.
        id_column: Column with ids; file and position unless given.
        score_column: Column with numbers by which the document to keep is chosen.
        partitions: Into how many partitions keys are sorted.
    """

    path: str
    content_column: str = "text"
    id_column: str | None = field(default=None, kw_only=True)
    score_column: str | None = field(default=None, kw_only=True)
    partitions: int = field(default=1, kw_only=True)

    thread_safe: ClassVar[bool] = True

    @abstractmethod
    def keys_of(self, batch: TableBatch) -> pa.Table:
        """Return the columns ``key``, ``mark`` and ``document`` for those that can have duplicates."""

    @abstractmethod
    def metadata(self) -> dict[bytes, bytes]:
        """Return the settings that the keys depend on, to be kept with them."""

    def sizes_of(self, batch: TableBatch) -> Any:
        """Return the bytes of every document."""
        return pc.fill_null(pc.binary_length(content_values(batch, self.content_column)), 0).cast(pa.int64())

    def inputs(self) -> Columns:
        return [name for name in (self.content_column, self.id_column, self.score_column) if name is not None]

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        make_folder(f"{self.path}/keys")
        make_folder(f"{self.path}/documents")

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        make_folder(f"{self.path}/keys")
        make_folder(f"{self.path}/documents")

    def process(self, task: TableBatch) -> FileGroupTask:
        """Write the two files of a batch."""
        name = part_name(task.task_id, ".parquet")
        keys_path, documents_path = f"{self.path}/keys/{name}", f"{self.path}/documents/{name}"
        size = self._write_keys(self.keys_of(task), keys_path)
        size += write_documents(self._documents(task), documents_path)
        return FileGroupTask(
            data=(FileSlice(keys_path), FileSlice(documents_path)),
            task_id=task.task_id,
            dataset_name=task.dataset_name,
            meta={"rows": task.num_rows, "bytes": size, "version": task.task_id},
        )

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the files of source tasks from the cache."""
        for folder in ("keys", "documents"):
            remove_parts(f"{self.path}/{folder}", sources, only_torn=only_torn)

    def _write_keys(self, table: pa.Table, path: str) -> int:
        """Write keys by partition: that of their highest bits, which are as random as any."""
        from curator_dedup.kernels.partitioning import into_partitions

        bits = self.partitions.bit_length() - 1
        keys = table.column("key").to_numpy()
        if table.column_names != _RECORD_COLUMNS:  # there is more to a key than is searched for pairs
            partition = keys >> np.uint64(64 - bits) if bits else np.zeros(len(keys), np.uint64)
            return write_shuffled(table, partition, path, partitions=self.partitions, metadata=self.metadata())
        columns = into_partitions(keys, *(table.column(name).to_numpy() for name in _RECORD_COLUMNS[1:]), bits)
        records = KeyRecords(*columns)
        hold_keys(self.path, path, records)
        table = pa.table([records.keys, records.marks, records.documents], names=_RECORD_COLUMNS)
        return write_partitions(table, records.counts, path, metadata=self.metadata())

    def _documents(self, task: TableBatch) -> pa.Table:
        for name in (SOURCE_COLUMN, ROW_COLUMN):
            task.check_column(name)
        columns = {
            "source": task.data.column(SOURCE_COLUMN),
            "row": task.data.column(ROW_COLUMN),
            "size": self.sizes_of(task),
        }
        if self.id_column is not None:
            columns["id"] = _ids(task, self.id_column)
        if self.score_column is not None:
            columns["score"] = _scores(task, self.score_column)
        return pa.table(columns)


def content_values(task: TableBatch, name: str) -> Any:
    """Return a column of text or bytes.

    Raises:
        StageError: There is none of that name, or it holds something else.
    """
    task.check_column(name)
    column = task.data.column(name)
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_null(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    elif pa.types.is_binary_view(kind):
        column = column.cast(pa.large_binary())
    if not _has_bytes(column.type):
        raise StageError(
            f"column {name!r} holds {kind}; text or bytes can be compared", fix="name the column with the content"
        )
    return column


def text_values(task: TableBatch, name: str) -> Any:
    """Return a column of text.

    Raises:
        StageError: There is none of that name, or it holds something else.
    """
    task.check_column(name)
    kind = task.data.schema.field(name).type
    is_plain = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return task.data.column(name) if is_plain else task.text(name).to_arrow()


def _has_bytes(kind: pa.DataType) -> bool:
    types = pa.types
    return any(test(kind) for test in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary))


def _ids(task: TableBatch, id_column: str) -> Any:
    task.check_column(id_column)
    column = task.data.column(id_column)
    if column.null_count:
        raise StageError(
            f"column {id_column!r} has {column.null_count:,} nulls; an id is needed for every row",
            fix="leave id_column out: then files and places are the ids",
        )
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _scores(task: TableBatch, score_column: str) -> Any:
    task.check_column(score_column)
    kind = task.data.schema.field(score_column).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise StageError(f"column {score_column!r} holds {kind}; scores are numbers", fix="name a column of numbers")
    return task.data.column(score_column).cast(pa.float64())
