"""Tar archives of samples (WebDataset shards) as a format: listed, read without extracting anything, and written."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from curator_core.sdk import (
    COMPRESSED_EXTENSIONS,
    ROW_COLUMN,
    SOURCE_COLUMN,
    FileSlice,
    Limits,
    ListFiles,
    Recording,
    compression_of,
    is_local,
    open_filesystem,
    plan_slices,
)
from curator_table.tar.archive_bytes import open_archive
from curator_table.tar.members import TarLimits, walk_members
from curator_table.tar.samples import group_samples, sample_edges
from curator_table.tar.tables import SampleLayout, sample_tables
from curator_table.tar.writer import write_archive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import FileEntry, FileReader
    from curator_table.tar.writer import Sample

__all__ = ["SAMPLE_COLUMNS", "ListTars", "TarSamples"]

SAMPLE_COLUMNS = (*SampleLayout.fixed, SOURCE_COLUMN, ROW_COLUMN)
"""Columns that every table of samples has."""

_EXTENSIONS = tuple(f".tar{outer}" for outer in ("", *COMPRESSED_EXTENSIONS))
_SNIFF_SAMPLES = 64


@dataclass
class ListTars(ListFiles):
    """List tar archives; large ones are cut between samples where that takes no reading of their content.

    Cutting looks at the headers of a local file without compression. An archive that is remote or compressed is one
    unit of work.

    Args:
        layout: Which member becomes which column, to know the columns before the run.
    """

    layout: SampleLayout | None = field(default=None, kw_only=True)

    def plan(self, entries: Iterable[FileEntry]) -> Iterator[tuple[FileSlice, ...]]:
        """Cut archives into units of work, lazily and in their order."""
        return plan_slices(entries, block_bytes=self.block_bytes, byte_edges=self._edges)

    def preflight(self) -> Sequence[str] | None:
        """Check that the paths match something, and find the columns in the first samples."""
        path = self.files_before_run()[0].path
        if self.layout is None:
            return None
        try:
            with Recording().active(), open_archive(FileSlice(path), Limits(verify=False)) as archive:
                samples = group_samples(archive, walk_members(archive, path, TarLimits()), path)
                first = islice(samples, _SNIFF_SAMPLES)
                tables = list(sample_tables(first, archive, path, self.layout, batch_bytes=self.block_bytes))
        except Exception:  # noqa: BLE001 - a courtesy before the run, which will meet the same error and report it
            return None
        return list(dict.fromkeys(name for table in tables for name in table.column_names)) or None

    def _edges(self, entry: FileEntry) -> Sequence[int] | None:
        filesystem, _ = open_filesystem(entry.path)
        if not is_local(filesystem) or compression_of(entry.path) is not None or entry.size_bytes is None:
            return None
        piece = FileSlice(entry.path, file_bytes=entry.size_bytes, version=entry.version)
        try:
            # Errors in the archive are reported by the reading stage.
            with Recording().active(), open_archive(piece, Limits()) as archive:
                members = walk_members(archive, entry.path, TarLimits())
                return sample_edges(members, file_bytes=entry.size_bytes, block_bytes=self.block_bytes)
        except Exception:  # noqa: BLE001 - reading it will meet the same error and report it
            return None


@dataclass(frozen=True)
class TarSamples:
    """Tar archives of samples, as the value that readers and writers hold; large archives are cut between samples.

    A row has the sample's ``key``, its media file as ``bytes`` with its ``extension``, and what its sidecars say (see
    :class:`SampleLayout`). ``_row`` is the offset of the sample in the archive. A reader may have the parameters of
    :class:`TarLimits`, and ``text_column``, the column for ``txt`` members.

    >>> from curator_core.sdk import FileReader
    >>> @dataclass
    ... class ReadScans(FileReader):
    ...     table_format = TarSamples("scan", media=("tif",))
    >>> [stage.name for stage in ReadScans("shards").decompose()]
    ['ReadScans.files', 'ReadScans']

    Args:
        noun: What samples are about, for messages.
        media: Extensions of it, in lower case and without a dot.
    """

    noun: str
    media: tuple[str, ...]

    extensions: ClassVar[tuple[str, ...]] = (".tar", ".tar.gz", ".tar.zst")
    """Extensions of archives that are written."""

    def listing(self, reader: FileReader) -> ListTars:
        """Return the stage that lists the archives of a reader and cuts them."""
        return reader.listed_by(ListTars, extensions=reader.looked_for or [*_EXTENSIONS], layout=self._layout(reader))

    def read_slice(self, reader: FileReader, piece: FileSlice) -> Iterator[pa.Table]:
        """Yield the samples of an archive, or of a slice of one."""
        limits = TarLimits(**reader.values_for(TarLimits))
        with open_archive(piece, reader.limits) as archive:
            members = walk_members(archive, piece.path, limits, start=piece.start, end=_last_header(piece))
            samples = group_samples(archive, members, piece.path)
            yield from sample_tables(samples, archive, piece.path, self._layout(reader), batch_bytes=reader.block_bytes)

    def write(self, samples: Sequence[Sample], path: str) -> int:
        """Write samples to an archive that is whole or not there at all; return its size in bytes."""
        return write_archive(samples, path)

    def check_written(self, folder: str) -> None:
        """Accept what was written: archives of any columns can be read together."""

    def _layout(self, reader: FileReader) -> SampleLayout:
        return SampleLayout(frozenset(self.media), self.noun, getattr(reader, "text_column", "text"))


def _last_header(piece: FileSlice) -> int | None:
    """Return where the headers of the next piece begin; None where there is none, so that its end is checked."""
    return None if piece.end == piece.file_bytes else piece.end
