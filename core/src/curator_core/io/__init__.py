"""Input and output: listing, splitting, reading and writing files of tables on any filesystem that fsspec knows.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.authoring.folder_reader import FolderReader, ReadFiles
    from curator_core.authoring.folder_writer import FolderWriter
    from curator_core.authoring.list_files import ListFiles
    from curator_core.authoring.piece_reader import PieceReader
    from curator_core.authoring.splitting import plan_slices
    from curator_core.files.atomic import atomic_output
    from curator_core.files.limits import DEFAULT_BLOCK_BYTES, Limits
    from curator_core.files.paths import FileEntry, list_files
    from curator_core.io.arrow_ipc import read_arrow, write_arrow
    from curator_core.io.csv import read_csv, write_csv
    from curator_core.io.formats import FORMATS, Format
    from curator_core.io.jsonl import read_jsonl, write_jsonl
    from curator_core.io.list_tables import ListTables
    from curator_core.io.parquet import read_parquet, write_parquet
    from curator_core.io.table_reader import ReadTable, TableReader
    from curator_core.io.table_writer import TableWriter
    from curator_core.io.tar_reader import TarReader
    from curator_core.io.tar_writer import TarWriter

_HOME = {
    "DEFAULT_BLOCK_BYTES": "files.limits",
    "FORMATS": "io.formats",
    "FileEntry": "files.paths",
    "FolderReader": "authoring.folder_reader",
    "FolderWriter": "authoring.folder_writer",
    "Format": "io.formats",
    "Limits": "files.limits",
    "ListFiles": "authoring.list_files",
    "ListTables": "io.list_tables",
    "PieceReader": "authoring.piece_reader",
    "ReadFiles": "authoring.folder_reader",
    "ReadTable": "io.table_reader",
    "TableReader": "io.table_reader",
    "TableWriter": "io.table_writer",
    "TarReader": "io.tar_reader",
    "TarWriter": "io.tar_writer",
    "atomic_output": "files.atomic",
    "list_files": "files.paths",
    "plan_slices": "authoring.splitting",
    "read_arrow": "io.arrow_ipc",
    "read_csv": "io.csv",
    "read_jsonl": "io.jsonl",
    "read_parquet": "io.parquet",
    "write_arrow": "io.arrow_ipc",
    "write_csv": "io.csv",
    "write_jsonl": "io.jsonl",
    "write_parquet": "io.parquet",
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
    "ListTables",
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
    value = getattr(importlib.import_module(f"curator_core.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
