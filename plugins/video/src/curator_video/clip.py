"""A clip: a file and a part of it, for one row."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from curator_core.sdk import row_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.sdk import RowFile, TableBatch

__all__ = ["CLIP_COLUMNS", "END_COLUMN", "ID_COLUMN", "START_COLUMN", "Clip", "VideoSource", "clip_id", "clips_of"]

ID_COLUMN, START_COLUMN, END_COLUMN = "clip_id", "start_s", "end_s"
CLIP_COLUMNS: Mapping[str, pa.DataType] = {
    ID_COLUMN: pa.string(),
    START_COLUMN: pa.float64(),
    END_COLUMN: pa.float64(),
}
"""The columns with the part of a file that a row is; a table without them is one of whole files."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A part of a video.

    Args:
        uri: The file.
        start_s: Time of its first frame, counted from the first frame of the file.
        end_s: Time at which it ends; None for the end of the file.
        content: The bytes of the file, if they are in memory.
        file: The file, as the row names it; checked when it is opened. None where the caller names it, not a row.
    """

    uri: str
    start_s: float = 0.0
    end_s: float | None = None
    content: bytes | None = None
    file: RowFile | None = None


@dataclass(frozen=True, slots=True)
class VideoSource:
    """The columns of a batch with the places of its videos.

    Args:
        uri_column: Column with the paths.
        bytes_column: Column with the content of the files; they are opened by their paths where it is None.
        allowed_locations: Folders whose files rows may name beside the place they were read from.
    """

    uri_column: str
    bytes_column: str | None = None
    allowed_locations: Sequence[str] | None = None


def clips_of(batch: TableBatch, source: VideoSource) -> list[Clip | None]:
    """Return the clip of each row, or None for a row that names no file."""
    files = row_files(batch, source.uri_column, source.allowed_locations)
    contents = [None] * len(files) if source.bytes_column is None else batch.series(source.bytes_column).to_list()
    starts, ends = (_seconds(batch, name) for name in (START_COLUMN, END_COLUMN))
    rows = zip(files, starts, ends, contents, strict=True)
    return [
        None
        if file is None or (source.bytes_column is not None and content is None)
        else Clip(file.value, start or 0.0, end, content, file)
        for file, start, end, content in rows
    ]


def clip_id(uri: str, start_s: float, end_s: float | None) -> str:
    """Return an id that depends on nothing but the file's uri and the span, to the microsecond.

    >>> clip_id("talk.mp4", 0, 2.5) == clip_id("talk.mp4", 0.0, 2.5000001), len(clip_id("talk.mp4", 0, None))
    (True, 16)
    """
    end = "" if end_s is None else str(round(end_s * 1e6))
    text = f"{uri}\0{round(start_s * 1e6)}\0{end}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _seconds(batch: TableBatch, name: str) -> list[float | None]:
    if name not in batch.columns:
        return [None] * batch.num_rows
    seconds: list[float | None] = batch.series(name).cast(pl.Float64).to_list()
    return seconds
