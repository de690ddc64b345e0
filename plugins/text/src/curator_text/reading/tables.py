"""Read documents from files; how the formats are cut and parsed is core's business."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import TableBatch
from curator_table import TableReader
from curator_text.batch import DocumentBatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import Columns, ProcessingStage

__all__ = ["DocumentReader", "ReadArrow", "ReadCsv", "ReadJsonl", "ReadParquet"]


@dataclass
class DocumentReader(TableReader):
    """Base of the readers of this package: tables come out as documents, always with their text.

    Args:
        paths: Files, folders, globs or URLs.
        text_field: Column with the text; read even where ``columns`` leaves it out.
        columns: Columns to read; all, where None.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_record_bytes: A longer line of JSON is quarantined.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included.
        verify: Check compressed files to their end before the first row comes out.
        schema: Types of columns, where those that a look at the files finds are not the right ones.
    """

    text_field: str = "text"

    batch_type: ClassVar[type[TableBatch]] = DocumentBatch

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        return TableReader.decompose(self._with_text())

    def outputs(self) -> Columns:
        return TableReader.outputs(self._with_text())

    def preflight(self) -> Sequence[str] | None:
        return TableReader.preflight(self._with_text())

    def _with_text(self) -> DocumentReader:
        if self.columns is None or self.text_field in self.columns:
            return self
        twin = copy.copy(self)
        twin.columns = [*self.columns, self.text_field]
        return twin


@dataclass
class ReadJsonl(DocumentReader):
    """Read documents from JSON Lines files, plain or compressed (``.gz``, ``.zst``, ``.bz2``, ``.xz``).

    Large plain files are cut into pieces. A bad line is quarantined with its file and byte offset, and the rest of the
    file comes through.

    >>> [stage.name for stage in ReadJsonl("corpus/*.jsonl.zst").decompose()]
    ['text.read_jsonl.files', 'text.read_jsonl']

    Args:
        paths: Files, folders, globs or URLs.
        text_field: Column with the text; read even where ``columns`` leaves it out.
        columns: Columns to read; all, where None.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_record_bytes: A longer line of JSON is quarantined.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included.
        verify: Check compressed files to their end before the first row comes out.
        schema: Types of columns, where those that a look at the files finds are not the right ones.
    """

    name = "text.read_jsonl"
    format: ClassVar[str] = "jsonl"


@dataclass
class ReadParquet(DocumentReader):
    """Read documents from Parquet files, cut by row group; checksums are verified where the file has them.

    >>> [stage.name for stage in ReadParquet("corpus", columns=["url"]).decompose()]
    ['text.read_parquet.files', 'text.read_parquet']

    Args:
        paths: Files, folders, globs or URLs.
        text_field: Column with the text; read even where ``columns`` leaves it out.
        columns: Columns to read; all, where None.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_record_bytes: A longer line of JSON is quarantined.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included.
        verify: Check compressed files to their end before the first row comes out.
        schema: Types of columns, where those that a look at the files finds are not the right ones.
    """

    name = "text.read_parquet"
    format: ClassVar[str] = "parquet"


@dataclass
class ReadCsv(DocumentReader):
    """Read documents from CSV files with a header line, plain or compressed. Every column comes as text.

    >>> [stage.name for stage in ReadCsv("corpus/*.csv").decompose()]
    ['text.read_csv.files', 'text.read_csv']

    Args:
        paths: Files, folders, globs or URLs.
        text_field: Column with the text; read even where ``columns`` leaves it out.
        columns: Columns to read; all, where None.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_record_bytes: A longer line of JSON is quarantined.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included.
        verify: Check compressed files to their end before the first row comes out.
        schema: Types of columns, where those that a look at the files finds are not the right ones.
    """

    name = "text.read_csv"
    format: ClassVar[str] = "csv"


@dataclass
class ReadArrow(DocumentReader):
    """Read documents from Arrow IPC files and streams; checksums are verified where the file has them.

    >>> [stage.name for stage in ReadArrow("corpus/*.arrow").decompose()]
    ['text.read_arrow.files', 'text.read_arrow']

    Args:
        paths: Files, folders, globs or URLs.
        text_field: Column with the text; read even where ``columns`` leaves it out.
        columns: Columns to read; all, where None.
        block_bytes: Size of a unit of work and of a table.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_record_bytes: A longer line of JSON is quarantined.
        max_expansion: Decompressed and decoded bytes allowed per byte of a file, against decompression bombs.
        max_columns: Most columns of a table, nested fields included.
        verify: Check compressed files to their end before the first row comes out.
        schema: Types of columns, where those that a look at the files finds are not the right ones.
    """

    name = "text.read_arrow"
    format: ClassVar[str] = "arrow"
