"""Tables of a small corpus, held in this process from one pass over it to the next, so that they are decoded once.

Holding changes no result: where a table is not there, as in another process, the file is read.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa

from curator_core.sdk import PROVENANCE_COLUMNS, FileReader, Limits, report
from curator_table import format_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import FileSlice
    from curator_table import ListTables

__all__ = ["ReadHeld", "held_tables", "holding"]

_HELD: dict[str, dict[FileSlice, list[pa.Table]]] = {}


@contextmanager
def holding(name: str) -> Iterator[None]:
    """Hold the tables that stages with this name read in this process, until the block ends.

    Args:
        name: Of the corpus: the folder of its cache.
    """
    _HELD[name] = {}
    try:
        yield
    finally:
        del _HELD[name]


def held_tables(name: str, path: str) -> list[pa.Table]:
    """Return the tables of a file that are held; none where nothing is."""
    return [table for piece, tables in _HELD.get(name, {}).items() if piece.path == path for table in tables]


@dataclass
class ReadHeld(FileReader):
    """Read a corpus, or take what an earlier pass has read.

    Args:
        file_format: The format.
        corpus_name: Name under which the corpus is held, if it is.
        held_columns: Columns that are held: those that some pass needs; all, where None.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)
    file_format: str = field(default="jsonl", kw_only=True)
    corpus_name: str = field(default="", kw_only=True)
    held_columns: list[str] | None = field(default=None, kw_only=True)

    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        self.table_format = format_named(self.file_format)
        self.typing: ListTables | None = None  # finds the types for several passes; this pass alone, where None

    def find_types(self) -> pa.Schema | None:
        return super().find_types() if self.typing is None else self.typing.find_types()

    def read_slice(self, piece: FileSlice) -> Iterator[pa.Table]:
        held = _HELD.get(self.corpus_name)
        if held is None:
            yield from super().read_slice(piece)
            return
        tables = held.get(piece)
        if tables is None:
            recording = report()
            bad_records = len(recording.bad_records)
            whole = copy.copy(self)
            whole.columns = self.held_columns
            tables = list(format_named(self.file_format).read_slice(whole, piece))
            if len(recording.bad_records) == bad_records:  # a bad record is to be told in every pass
                held[piece] = tables
        for table in tables:
            yield table if self.columns is None else _with_columns(table, self.columns)


def _with_columns(table: pa.Table, columns: list[str]) -> pa.Table:
    """Return some columns of a table and its provenance; a column that it lacks is null, as readers have it."""
    names = [*(name for name in columns if name not in PROVENANCE_COLUMNS), *PROVENANCE_COLUMNS]
    have = set(table.column_names)
    arrays = [table.column(name) if name in have else pa.nulls(table.num_rows) for name in names]
    return pa.Table.from_arrays(arrays, names=names)
