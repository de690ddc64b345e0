"""The stages of this package, in one place to import from."""

from __future__ import annotations

from curator_core.authoring.folder_reader import FolderReader, ReadFiles
from curator_core.authoring.list_stage import ListFiles
from curator_core.io.table_reader import ReadTable, TableReader
from curator_core.io.table_writer import TableWriter

__all__ = ["FolderReader", "ListFiles", "ReadFiles", "ReadTable", "TableReader", "TableWriter"]
