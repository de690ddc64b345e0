"""Read single documents again by their numbers, where that takes no more than a look at their place in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from curator_core.sdk import ROW_COLUMN, CuratorError, FileSlice, compression_of, open_filesystem
from curator_dedup.cache_files import load_array
from curator_dedup.held_tables import held_tables
from curator_dedup.numbering import Numbering
from curator_table import format_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from curator_dedup.corpus import Corpus

__all__ = ["DocumentTexts"]

_SMALL_FILE_DOCUMENTS = 100_000
"""Documents of a file that is read from its beginning for the sake of one."""


class DocumentTexts:
    """Texts of single documents of a corpus.

    Args:
        corpus: The corpus.
        numbering: File with the numbers of its documents.
        column: Column with the text.
        start: Number of the corpus's first document.
    """

    def __init__(self, corpus: Corpus, numbering: str, column: str, start: int) -> None:
        self._corpus = corpus
        self._numbering = Numbering.read(numbering)
        self._rows = load_array(self._numbering.rows)
        self._column = column
        self._start = start

    def of(self, numbers: Sequence[int]) -> list[str | None]:
        """Return the texts of documents; None where one cannot be looked up quickly, or is no text."""
        wanted: dict[str, set[int]] = {}
        places = [self._place(number - self._start) for number in numbers]
        for source, row in places:
            wanted.setdefault(source, set()).add(row)
        found = {source: self._texts(source, rows) for source, rows in wanted.items() if source}
        return [found[source].get(row) if source else None for source, row in places]

    def _place(self, number: int) -> tuple[str, int]:
        """Return the file and the place in it of a document; no file for one of an earlier corpus."""
        spans = self._numbering.sources.items()
        source = next((path for path, (begin, end) in spans if begin <= number < end), "")
        return (source, int(self._rows[number])) if source else ("", 0)

    def _texts(self, source: str, rows: set[int]) -> dict[int, str]:
        held = self._found(held_tables(self._corpus.name, source), rows)
        rows = rows - set(held)
        if not rows:
            return held
        begin, end = self._numbering.sources[source]
        pieces: list[FileSlice]
        if self._corpus.format_name == "jsonl" and compression_of(source) is None:
            pieces = [FileSlice(source, start=row, end=row + 1) for row in rows]
        elif self._corpus.format_name == "parquet":
            pieces = [FileSlice(source, row_groups=(group, group + 1)) for group in _groups_of(source, rows)]
        elif end - begin <= _SMALL_FILE_DOCUMENTS:
            pieces = [FileSlice(source)]
        else:
            return held
        try:
            read = format_named(self._corpus.format_name).read
            tables = (table for piece in pieces for table in read(piece, columns=[self._column]))
            return held | self._found(tables, rows)
        except (CuratorError, OSError, ValueError):  # a courtesy of the report: it must not cost the result
            return held

    def _found(self, tables: Iterable[pa.Table], rows: set[int]) -> dict[int, str]:
        texts: dict[int, str] = {}
        for table in tables:
            numbers = table.column(ROW_COLUMN).to_numpy()
            for place in np.flatnonzero(np.isin(numbers, list(rows))).tolist():
                value = table.column(self._column)[place].as_py() if self._column in table.column_names else None
                if isinstance(value, str):
                    texts[int(numbers[place])] = value
        return texts


def _groups_of(source: str, rows: set[int]) -> list[int]:
    """Return the row groups of a Parquet file that some rows are in."""
    filesystem, inner = open_filesystem(source)
    with filesystem.open(inner, "rb") as file:
        metadata = pq.ParquetFile(file).metadata
    ends = np.cumsum([metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)])
    return sorted(set(np.searchsorted(ends, sorted(rows), side="right").tolist()))
