"""Read files of tables: JSON lines, Parquet, CSV and Arrow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from curator_core.sdk import FileReader, Limits
from curator_table.formats import FORMATS

__all__ = ["READERS", "ReadArrow", "ReadCsv", "ReadJsonl", "ReadParquet"]


@dataclass
class ReadJsonl(FileReader):
    """Read JSON Lines files, plain or compressed (``.gz``, ``.zst``, ``.bz2``, ``.xz``).

    Large plain files are cut into slices. A bad line is quarantined with its file and byte offset, and the rest of the
    file comes through.

    >>> [stage.name for stage in ReadJsonl("corpus/*.jsonl.zst").decompose()]
    ['table.read_jsonl.files', 'table.read_jsonl']

    Args:
        max_record_bytes: A longer line is quarantined.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)
    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "table.read_jsonl"
    version: ClassVar[str] = "2"
    table_format = FORMATS["jsonl"]


@dataclass
class ReadParquet(FileReader):
    """Read Parquet files, cut by row group; checksums are verified where the file has them.

    >>> [stage.name for stage in ReadParquet("corpus", columns=["url"]).decompose()]
    ['table.read_parquet.files', 'table.read_parquet']
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)

    name = "table.read_parquet"
    version: ClassVar[str] = "2"
    table_format = FORMATS["parquet"]


@dataclass
class ReadCsv(FileReader):
    """Read CSV files with a header line, plain or compressed. Every column comes as text.

    >>> [stage.name for stage in ReadCsv("corpus/*.csv").decompose()]
    ['table.read_csv.files', 'table.read_csv']

    Args:
        max_record_bytes: A longer record is quarantined.
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)
    max_record_bytes: int = field(default=Limits().max_record_bytes, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "table.read_csv"
    version: ClassVar[str] = "2"
    table_format = FORMATS["csv"]


@dataclass
class ReadArrow(FileReader):
    """Read Arrow IPC files and streams; checksums are verified where the file has them.

    >>> [stage.name for stage in ReadArrow("corpus/*.arrow").decompose()]
    ['table.read_arrow.files', 'table.read_arrow']
    """

    columns: list[str] | None = field(default=None, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    max_columns: int = field(default=Limits().max_columns, kw_only=True)
    schema: dict[str, Any] | None = field(default=None, kw_only=True)

    name = "table.read_arrow"
    version: ClassVar[str] = "2"
    table_format = FORMATS["arrow"]


READERS: dict[str, type[ReadJsonl | ReadParquet | ReadCsv | ReadArrow]] = {
    "jsonl": ReadJsonl,
    "parquet": ReadParquet,
    "csv": ReadCsv,
    "arrow": ReadArrow,
}
"""The reader of each format, by its name."""
