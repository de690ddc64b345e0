"""Read tar archives of samples (WebDataset shards) as rows, without extracting anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from curator_core.sdk import (
    COMPRESSED_EXTENSIONS,
    ROW_COLUMN,
    SOURCE_COLUMN,
    FileReader,
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from curator_core.sdk import Columns, FileEntry

__all__ = ["ListTars", "TarReader"]

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


@dataclass
class TarReader(FileReader):
    """Base of stages that read tar archives of samples; large archives are cut between samples.

    A row has the sample's ``key``, its media file as ``bytes`` with its ``extension``, and what its sidecars say (see
    :class:`SampleLayout`). ``_row`` is the offset of the sample in the archive.

    >>> @dataclass
    ... class ReadScans(TarReader):
    ...     media = ("tif",)
    >>> [stage.name for stage in ReadScans("shards").decompose()]
    ['ReadScans.files', 'ReadScans']

    Args:
        paths: Archives, folders, globs or URLs; ``.tar``, also compressed (``.gz``, ``.zst``, ``.bz2``, ``.xz``).
        text_column: Column for ``txt`` members.
        max_member_bytes: A larger member is quarantined.
        max_members: Maximum number of members of one archive.
        max_expansion: Decompressed bytes allowed per byte of a compressed archive, against decompression bombs.
        verify: Check compressed archives to their end before the first row comes out (see :class:`Decompressor`).
    """

    text_column: str = field(default="text", kw_only=True)
    max_member_bytes: int = field(default=TarLimits().max_member_bytes, kw_only=True)
    max_members: int = field(default=TarLimits().max_members, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    media: ClassVar[tuple[str, ...]] = ()
    """Extensions of the media files of samples, in lower case and without a dot."""
    noun: ClassVar[str] = "media file"
    """Name of these media files in messages."""
    extensions = tuple(f".tar{outer}" for outer in ("", *COMPRESSED_EXTENSIONS))

    def listing(self) -> ListTars:
        listing = ListTars(
            self.paths,
            extensions=self.looked_for,
            block_bytes=self.block_bytes,
            limit_files=self.limit_files,
            follow_links=self.follow_links,
            layout=self._layout(),
        )
        return listing.with_(name=f"{self.name}.files")

    def outputs(self) -> Columns:
        return [*self._layout().fixed, SOURCE_COLUMN, ROW_COLUMN]

    def read_slice(self, piece: FileSlice) -> Iterator[pa.Table]:
        limits = TarLimits(self.max_member_bytes, self.max_members)
        with open_archive(piece, self.limits) as archive:
            members = walk_members(archive, piece.path, limits, start=piece.start, end=_last_header(piece))
            samples = group_samples(archive, members, piece.path)
            yield from sample_tables(samples, archive, piece.path, self._layout(), batch_bytes=self.block_bytes)

    def _layout(self) -> SampleLayout:
        return SampleLayout(frozenset(self.media), self.noun, self.text_column)


def _last_header(piece: FileSlice) -> int | None:
    """Return where the headers of the next piece begin; None where there is none, so that its end is checked."""
    return None if piece.end == piece.file_bytes else piece.end
