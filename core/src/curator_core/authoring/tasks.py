"""What flows through a pipeline: a task is a value, an id that the framework owns, and a little metadata."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from curator_core.authoring.derived import carry_columns, carry_rows
from curator_core.values.errors import StageError, UnknownNameError
from curator_core.values.redaction import redact_shapes
from curator_core.values.source_ids import source_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from typing_extensions import Self

__all__ = [
    "ROW_COLUMN",
    "SOURCE_COLUMN",
    "EmptyTask",
    "FileGroupTask",
    "FileSlice",
    "TableBatch",
    "Task",
    "as_column",
    "concat_tables",
    "source_id",
    "take_rows",
]

SOURCE_COLUMN = "_source"
"""Provenance: the file a row came from (dictionary-encoded)."""
ROW_COLUMN = "_row"
"""Provenance: record number or byte offset of a row inside its file."""

T = TypeVar("T")


@dataclass
class Task(Generic[T]):
    """One unit of work: any picklable value.

    >>> Task(data={"url": "file.bin"}).num_items
    1

    Args:
        data: The payload.
        task_id: Owned by the framework: the source's id, then a child index for every fan-out (``3f2a/0/2``).
        dataset_name: Free label that travels along.
        meta: Small dictionary that travels along.
    """

    data: T = None  # type: ignore[assignment]
    task_id: str = ""
    dataset_name: str = ""
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def num_items(self) -> int:
        """Number of rows for statistics; one for a task that is not a table."""
        return 1

    @property
    def size_bytes(self) -> int:
        """Size of the payload where it is cheap to know, else zero."""
        return 0

    @property
    def source(self) -> tuple[str | None, int | None]:
        """File and row this task starts at, where known."""
        return None, None

    def with_data(self, data: Any) -> Self:
        """Return a copy with another payload, as the constructor takes it; id and metadata are kept."""
        kind: type = type(self)
        if _is_plain(kind):  # several times as fast as copy.copy, which matters for millions of small tasks
            twin: Self = object.__new__(kind)
            twin.__dict__.update(self.__dict__)
        else:
            twin = copy.copy(self)
        twin.data = data
        return twin


@dataclass
class EmptyTask(Task[None]):
    """The task that starts a pipeline whose first stage makes its own work.

    >>> EmptyTask().num_items
    0
    """

    @property
    def num_items(self) -> int:
        return 0


@dataclass(frozen=True)
class FileSlice:
    """A file, or a byte range or range of row groups of it.

    >>> FileSlice("a.jsonl", start=0, end=1_000, file_bytes=5_000).size_bytes
    1000

    Args:
        path: Path or URL.
        start: First byte of the range.
        end: First byte after the range; None means the end of the file.
        row_groups: First and one past the last row group (Parquet) or record batch (Arrow).
        file_bytes: Size of the whole file when it was listed.
        version: What tells one version of the file from another: modification time or etag.
        key: What tells the file from others that were listed with it, for readers of whole files; it is no part of the
            identity of a task.
    """

    path: str
    start: int = 0
    end: int | None = None
    row_groups: tuple[int, int] | None = None
    file_bytes: int | None = None
    version: str = ""
    key: str = field(default="", repr=False)

    @property
    def size_bytes(self) -> int:
        """Bytes this slice covers, zero where unknown."""
        end = self.file_bytes if self.end is None else self.end
        return max(0, (end or 0) - self.start)


@dataclass
class FileGroupTask(Task["tuple[FileSlice, ...]"]):
    """Files or slices of files: the unit of source work and of recovery, and what writers return.

    >>> FileGroupTask(data=["a.jsonl", "b.jsonl"]).paths
    ['a.jsonl', 'b.jsonl']
    """

    data: tuple[FileSlice, ...] = ()

    def __post_init__(self) -> None:
        self.data = _as_slices(self.data)

    def with_data(self, data: Any) -> Self:
        return super().with_data(_as_slices(data))

    @property
    def paths(self) -> list[str]:
        """The paths, in order."""
        return [each.path for each in self.data]

    @property
    def num_items(self) -> int:
        """Rows, where a writer has counted them, else zero."""
        return int(self.meta.get("rows", 0))

    @property
    def size_bytes(self) -> int:
        return 0  # a list of paths; what they point at has not been read

    @property
    def source(self) -> tuple[str | None, int | None]:
        return (self.data[0].path, self.data[0].start) if self.data else (None, None)

    def fingerprint(self) -> str:
        """Return an id made of what the files are: path, range, size and version.

        What looks like a secret is left out: an address that was signed anew is that of the same file. Hidden values
        are not: workers have not hidden what the driver has, and both must come to the same id.
        """
        text = "\0".join(redact_shapes(repr(each)) if "://" in each.path else repr(each) for each in self.data)
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@dataclass
class TableBatch(Task["pa.Table"]):
    """Rows in an Arrow table. Every modality is a table with typed columns, so stages of all plugins mix.

    Accepts an Arrow table or record batch, a polars or pandas frame, a dict of columns or a list of rows.

    >>> batch = TableBatch(data={"text": ["one", "two"]})
    >>> batch.num_rows, batch.columns
    (2, ['text'])
    """

    def __post_init__(self) -> None:
        self.data = _as_table(self.data)

    def with_data(self, data: Any) -> Self:
        return super().with_data(_as_table(data))

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self.data.num_rows)

    @property
    def num_items(self) -> int:
        return self.num_rows

    @property
    def size_bytes(self) -> int:
        return int(self.data.nbytes)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.data.column_names)

    @property
    def source(self) -> tuple[str | None, int | None]:
        return self.row_source(0)

    def row_source(self, index: int) -> tuple[str | None, int | None]:
        """Return the file and record a row came from, as its reader noted them."""
        if not 0 <= index < self.num_rows:
            return None, None
        names = self.data.column_names
        path = self.data.column(SOURCE_COLUMN)[index].as_py() if SOURCE_COLUMN in names else None
        row = self.data.column(ROW_COLUMN)[index].as_py() if ROW_COLUMN in names else None
        return path, row

    @property
    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame that shares the buffers."""
        import polars as pl

        frame = pl.from_arrow(self.data)
        assert isinstance(frame, pl.DataFrame)
        return frame

    def series(self, name: str) -> pl.Series:
        """Return one column as a polars series; cheaper than ``frame`` when few columns are needed.

        Raises:
            StageError: There is no such column.
        """
        import polars as pl

        self.check_column(name)
        series: pl.Series = pl.Series(name, self.data.column(name))
        return series

    def text(self, name: str) -> pl.Series:
        """Return a string column; nulls stay null.

        Raises:
            StageError: There is no such column, or it does not hold strings.
        """
        import polars as pl

        series = self.series(name)
        if series.dtype in (pl.Null, pl.Categorical, pl.Enum):
            series = series.cast(pl.String)
        elif series.dtype != pl.String:
            raise StageError(
                f"column {name!r} holds {self.data.schema.field(name).type}, but text was expected",
                fix="name the column that holds the text, e.g. text_column: body",
            )
        return series

    def with_column(self, name: str, values: Any) -> Self:
        """Return a copy with a column added, or replaced in its place; the other columns are shared."""
        column = as_column(values)
        position = self.data.schema.get_field_index(name)
        table = self.data
        data = table.append_column(name, column) if position < 0 else table.set_column(position, name, column)
        carry_columns(self.data, data, name)
        return self.with_data(data)

    def with_rows(self, mask: pl.Series) -> Self:
        """Return a copy with the rows for which a boolean is true.

        What was computed from the rows before (:mod:`curator_core.authoring.derived`) is not computed again.
        """
        kept = self.data.filter(mask.to_arrow())
        carry_rows(self.data, kept, mask)
        return self.with_data(kept)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame (a copy)."""
        frame: pd.DataFrame = self.data.to_pandas()
        return frame

    def to_pyarrow(self) -> pa.Table:
        """Return the Arrow table itself."""
        return self.data

    def check_column(self, name: str) -> None:
        """Raise an error that names the nearest column where there is none of this name."""
        if name not in self.data.column_names:
            raise UnknownNameError("column", name, self.columns, fix=f"the batch has: {', '.join(self.columns)}")


@lru_cache(maxsize=256)
def _is_plain(kind: type) -> bool:
    """Return whether instances of a class are their dictionaries: no slots, no copying of their own."""
    own = {"__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"}
    return not any(vars(each).get("__slots__") or own & vars(each).keys() for each in kind.__mro__[:-1])


def _as_slices(files: Iterable[str | FileSlice]) -> tuple[FileSlice, ...]:
    if isinstance(files, str):  # whose members are letters
        raise StageError(f"a FileGroupTask holds a list of files, got {files!r}", fix=f"give a list: [{files!r}]")
    return tuple(FileSlice(each) if isinstance(each, str) else each for each in files)


def _as_table(value: Any) -> pa.Table:
    import pyarrow as pa

    if isinstance(value, pa.Table):
        return value
    if isinstance(value, pa.RecordBatch):
        return pa.Table.from_batches([value])
    if value is None or isinstance(value, dict):
        return pa.table(value or {})
    if hasattr(value, "to_arrow"):  # polars, without importing it
        return value.to_arrow()
    if hasattr(value, "iloc"):  # pandas, without importing it
        return pa.Table.from_pandas(value, preserve_index=False)
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return pa.Table.from_pylist(value)
    raise StageError(
        f"a TableBatch cannot hold {type(value).__name__}",
        fix="give an Arrow table, a polars or pandas frame, a dict of columns or a list of dicts",
    )


def as_column(values: Any, kind: pa.DataType | None = None) -> pa.ChunkedArray | pa.Array:
    """Return values as a column of Arrow, of a type if one is given."""
    import pyarrow as pa

    if hasattr(values, "to_arrow"):  # polars, without importing it
        values = values.to_arrow()
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values if kind is None else values.cast(kind)
    return pa.array(values, kind)


def concat_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Join tables, widening columns that differ only in nullness or numeric width.

    >>> import pyarrow as pa
    >>> concat_tables([pa.table({"n": [1]}), pa.table({"n": [0.5]})])["n"].to_pylist()
    [1.0, 0.5]
    """
    import pyarrow as pa

    if len(tables) == 1:
        return tables[0]
    return pa.concat_tables(tables, promote_options="permissive")


def take_rows(tasks: Iterable[Task[Any]], limit: int) -> Iterator[Task[Any]]:
    """Yield tasks up to a number of rows, cutting the last table to fit; no more tasks are pulled than needed."""
    left = limit
    for task in tasks if left > 0 else ():
        if isinstance(task, TableBatch) and task.num_rows > left:
            task = task.with_data(task.data.slice(0, left))  # noqa: PLW2901 - the shortened task takes its place
        left -= task.num_items
        yield task
        if left <= 0:
            return
