"""Do something with the clip of every row, keeping the errors apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from curator_core.sdk import DataError
from curator_video.clip import clips_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.sdk import TableBatch
    from curator_video.clip import Clip, VideoSource

__all__ = ["UNREADABLE", "for_each_clip"]

UNREADABLE = "UnreadableVideo"
"""Class of the errors in the quarantine."""

T = TypeVar("T")


def for_each_clip(batch: TableBatch, source: VideoSource, work: Callable[[Clip], T]) -> list[T | DataError | None]:
    """Return the result of ``work`` for each row's clip, or the error; None for a row that names no file."""
    return [_attempt(clip, work) for clip in clips_of(batch, source)]


def _attempt(clip: Clip | None, work: Callable[[Clip], T]) -> T | DataError | None:
    try:
        return None if clip is None else work(clip)
    except DataError as error:
        return error
