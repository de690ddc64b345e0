"""A reader for each table format, as plain as can be, for tests of what is in the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from curator_table import TableReader

__all__ = ["READERS", "ReadArrow", "ReadCsv", "ReadLines", "ReadParquet"]


@dataclass
class ReadLines(TableReader):
    name = "lines"
    format: ClassVar[str] = "jsonl"


@dataclass
class ReadCsv(TableReader):
    name = "csv"
    format: ClassVar[str] = "csv"


@dataclass
class ReadParquet(TableReader):
    name = "parquet"
    format: ClassVar[str] = "parquet"


@dataclass
class ReadArrow(TableReader):
    name = "arrow"
    format: ClassVar[str] = "arrow"


READERS: dict[str, type[TableReader]] = {each.format: each for each in (ReadLines, ReadCsv, ReadParquet, ReadArrow)}
