"""The readers of the table formats, by the name of their format, for tests of what is in the files."""

from __future__ import annotations

from curator_table import READERS, ReadArrow, ReadCsv, ReadParquet
from curator_table import ReadJsonl as ReadLines

__all__ = ["READERS", "ReadArrow", "ReadCsv", "ReadLines", "ReadParquet"]
