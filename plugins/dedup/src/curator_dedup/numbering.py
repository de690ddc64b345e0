"""Numbers for the documents of a corpus: dense, in the order of the input, the same in every pass over it.

A document is known by its file and its place there, which readers add to every row. The first pass writes both down;
later passes look the numbers up, independent of their batches and columns.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, ConfigError, DataError, atomic_output, open_filesystem
from curator_dedup.cache_files import load_array, save_array

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from curator_core.sdk import TableBatch

__all__ = ["Batch", "DocumentNumbers", "Numbering", "first_numbers", "number_documents", "places_of"]


@dataclass(frozen=True)
class Batch:
    """The files that the first pass has written for a batch.

    Args:
        first: Number of its first document.
        rows: How many it has.
        keys: File with the keys of its documents.
        documents: File with the properties of its documents.
        version: Version of these files.
    """

    first: int
    rows: int
    keys: str
    documents: str
    version: str


@dataclass(frozen=True)
class Numbering:
    """A corpus, numbered.

    Args:
        batches: Its batches, in order.
        sources: Its files: for each, the number of its first document and of the first one behind.
        rows: File with the place of every document in its file.
    """

    batches: tuple[Batch, ...]
    sources: dict[str, tuple[int, int]]
    rows: str

    @property
    def documents(self) -> int:
        """Number of documents."""
        return self.batches[-1].first + self.batches[-1].rows if self.batches else 0

    def write(self, path: str) -> None:
        """Keep the numbering in a file."""
        with atomic_output(path) as file:
            file.write(json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, path: str) -> Numbering:
        """Read a numbering."""
        filesystem, inner = open_filesystem(path)
        content = json.loads(filesystem.cat_file(inner))
        sources = {source: (span[0], span[1]) for source, span in content["sources"].items()}
        return cls(tuple(Batch(**each) for each in content["batches"]), sources, content["rows"])


def number_documents(
    batches: Iterable[Batch], places: Iterable[tuple[pa.ChunkedArray, NDArray[np.int64]]], rows_path: str
) -> Numbering:
    """Number the documents of batches that are in the order of the input.

    Args:
        batches: The batches.
        places: For each batch, the file and the place in it of every document.
        rows_path: Where the places are kept.

    Raises:
        ConfigError: A file was read twice, so that its documents cannot be distinguished.
    """
    sources: dict[str, tuple[int, int]] = {}
    all_rows = []
    start = 0
    for files, rows in places:
        for source, count in _runs(files):
            begin, end = sources.get(source, (start, start))
            if end != start:
                raise ConfigError(
                    f"{source!r} was read twice, so that its documents cannot be told apart",
                    fix="name every file once; a file and the folder it is in are the same file twice",
                )
            start += count
            sources[source] = (begin, start)
        all_rows.append(rows)
    numbers = np.concatenate(all_rows) if all_rows else np.empty(0, np.int64)
    save_array(numbers, rows_path)
    return Numbering(tuple(batches), sources, rows_path)


class DocumentNumbers:
    """Looks up the numbers of rows.

    Args:
        path: File with the numbering.
        start: Added to every number, where another corpus comes before this one.
    """

    def __init__(self, path: str, start: int = 0) -> None:
        self._numbering = Numbering.read(path)
        self._rows = load_array(self._numbering.rows)
        self._start = start

    def of(self, batch: TableBatch) -> NDArray[np.int64]:
        """Return the number of every row of a batch.

        Raises:
            DataError: A row was not there when the documents were numbered.
        """
        for name in (SOURCE_COLUMN, ROW_COLUMN):
            batch.check_column(name)
        rows = batch.data.column(ROW_COLUMN).to_numpy()
        numbers = np.empty(len(rows), np.int64)
        at = 0
        for source, count in _runs(batch.data.column(SOURCE_COLUMN)):
            wanted = rows[at : at + count]
            begin, end = self._numbering.sources.get(source, (0, 0))
            known = self._rows[begin:end]
            found = np.searchsorted(known, wanted)
            is_there = found < len(known)
            is_there[is_there] = known[found[is_there]] == wanted[is_there]
            if not is_there.all():
                raise DataError(
                    "the input has changed since it was first read: a document was not there",
                    source=source,
                    row=int(wanted[~is_there][0]),
                    fix="start anew, without --resume",
                )
            numbers[at : at + count] = self._start + begin + found
            at += count
        return numbers


def first_numbers(numberings: list[str]) -> dict[str, int]:
    """Return the number of the first document of every batch, by its keys file; corpora follow each other."""
    first: dict[str, int] = {}
    start = 0
    for path in numberings:
        numbering = Numbering.read(path)
        first |= {batch.keys: start + batch.first for batch in numbering.batches}
        start += numbering.documents
    return first


def places_of(chosen: NDArray[Any], numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where chosen numbers come among others: the places among the others, and those among the chosen.

    >>> places_of(np.array([2, 5, 5, 9]), np.array([7, 5, 2]))
    (array([1, 1, 2]), array([1, 2, 0]))

    Args:
        chosen: Sorted; a number may come several times.
        numbers: The others, in any order.
    """
    begins = np.searchsorted(chosen, numbers, side="left")
    counts = np.searchsorted(chosen, numbers, side="right") - begins
    places = np.repeat(np.arange(len(numbers)), counts)
    steps = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    return places, begins[places] + steps


def _runs(column: pa.ChunkedArray) -> list[tuple[str, int]]:
    """Return the values of a column of text that repeats, each with how often it comes in a row."""
    runs: list[tuple[str, int]] = []
    for chunk in column.chunks:
        encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        codes: NDArray[Any] = encoded.indices.to_numpy()
        if len(codes) == 0:
            continue
        begins = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1])
        counts = np.diff(np.append(begins, len(codes)))
        values = encoded.dictionary.take(pa.array(codes[begins])).to_pylist()
        for value, count in zip(values, counts.tolist(), strict=True):
            if runs and runs[-1][0] == value:
                runs[-1] = (value, runs[-1][1] + count)
            else:
                runs.append((value, count))
    return runs
