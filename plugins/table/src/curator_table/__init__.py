"""Tables for curator, which every modality is made of: their formats, and the stages that any table goes through.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_table.arrow.ipc import read_arrow, write_arrow
    from curator_table.csv.csv_files import read_csv, write_csv
    from curator_table.foreign_content import check_content
    from curator_table.formats import FORMATS, Format, format_named
    from curator_table.json.jsonl import read_jsonl
    from curator_table.json.writer import write_jsonl
    from curator_table.lines import PAYLOAD_BYTES, line_blocks
    from curator_table.list_tables import ListTables
    from curator_table.parquet.parquet_files import read_parquet, write_parquet
    from curator_table.stages.sample import Sample, hash_numbers, hash_text, row_keys, shares_of
    from curator_table.stages.select import SelectColumns
    from curator_table.stages.where import Where, parse_condition
    from curator_table.table_reader import ReadTable, TableReader
    from curator_table.table_writer import TableWriter
    from curator_table.tar.reader import TarReader
    from curator_table.tar.writer import TarWriter
    from curator_table.types.column_types import find_types, join_types
    from curator_table.utf8_check import is_utf8

__version__ = "0.1.0"

_HOME = {
    "FORMATS": "formats",
    "Format": "formats",
    "ListTables": "list_tables",
    "PAYLOAD_BYTES": "lines",
    "ReadTable": "table_reader",
    "Sample": "stages.sample",
    "SelectColumns": "stages.select",
    "TableReader": "table_reader",
    "TableWriter": "table_writer",
    "TarReader": "tar.reader",
    "TarWriter": "tar.writer",
    "Where": "stages.where",
    "check_content": "foreign_content",
    "find_types": "types.column_types",
    "format_named": "formats",
    "hash_numbers": "stages.sample",
    "hash_text": "stages.sample",
    "is_utf8": "utf8_check",
    "join_types": "types.column_types",
    "line_blocks": "lines",
    "parse_condition": "stages.where",
    "read_arrow": "arrow.ipc",
    "read_csv": "csv.csv_files",
    "read_jsonl": "json.jsonl",
    "read_parquet": "parquet.parquet_files",
    "row_keys": "stages.sample",
    "shares_of": "stages.sample",
    "write_arrow": "arrow.ipc",
    "write_csv": "csv.csv_files",
    "write_jsonl": "json.writer",
    "write_parquet": "parquet.parquet_files",
}

__all__ = [
    "FORMATS",
    "PAYLOAD_BYTES",
    "Format",
    "ListTables",
    "ReadTable",
    "Sample",
    "SelectColumns",
    "TableReader",
    "TableWriter",
    "TarReader",
    "TarWriter",
    "Where",
    "check_content",
    "find_types",
    "format_named",
    "hash_numbers",
    "hash_text",
    "is_utf8",
    "join_types",
    "line_blocks",
    "parse_condition",
    "read_arrow",
    "read_csv",
    "read_jsonl",
    "read_parquet",
    "row_keys",
    "shares_of",
    "write_arrow",
    "write_csv",
    "write_jsonl",
    "write_parquet",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
