"""Input and output: listing, splitting, reading and writing files of tables on any filesystem that fsspec knows.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.io.arrow_ipc import read_arrow, write_arrow
    from curator_core.io.atomic import atomic_output
    from curator_core.io.csv import read_csv, write_csv
    from curator_core.io.folder_reader import FolderReader, ReadFiles
    from curator_core.io.folder_writer import FolderWriter
    from curator_core.io.formats import FORMATS, Format
    from curator_core.io.jsonl import read_jsonl, write_jsonl
    from curator_core.io.limits import DEFAULT_BLOCK_BYTES, Limits
    from curator_core.io.list_stage import ListFiles
    from curator_core.io.parquet import read_parquet, write_parquet
    from curator_core.io.paths import FileEntry, list_files
    from curator_core.io.piece_reader import PieceReader
    from curator_core.io.splitting import plan_slices
    from curator_core.io.table_reader import ReadTable, TableReader
    from curator_core.io.table_writer import TableWriter
    from curator_core.io.tar_reader import TarReader
    from curator_core.io.tar_writer import TarWriter

_HOME = {
    "DEFAULT_BLOCK_BYTES": "limits",
    "FORMATS": "formats",
    "FileEntry": "paths",
    "FolderReader": "folder_reader",
    "FolderWriter": "folder_writer",
    "Format": "formats",
    "Limits": "limits",
    "ListFiles": "list_stage",
    "PieceReader": "piece_reader",
    "ReadFiles": "folder_reader",
    "ReadTable": "table_reader",
    "TableReader": "table_reader",
    "TableWriter": "table_writer",
    "TarReader": "tar_reader",
    "TarWriter": "tar_writer",
    "atomic_output": "atomic",
    "list_files": "paths",
    "plan_slices": "splitting",
    "read_arrow": "arrow_ipc",
    "read_csv": "csv",
    "read_jsonl": "jsonl",
    "read_parquet": "parquet",
    "write_arrow": "arrow_ipc",
    "write_csv": "csv",
    "write_jsonl": "jsonl",
    "write_parquet": "parquet",
}

__all__ = [
    "DEFAULT_BLOCK_BYTES",
    "FORMATS",
    "FileEntry",
    "FolderReader",
    "FolderWriter",
    "Format",
    "Limits",
    "ListFiles",
    "PieceReader",
    "ReadFiles",
    "ReadTable",
    "TableReader",
    "TableWriter",
    "TarReader",
    "TarWriter",
    "atomic_output",
    "list_files",
    "plan_slices",
    "read_arrow",
    "read_csv",
    "read_jsonl",
    "read_parquet",
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
