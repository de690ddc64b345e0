"""The task type of video: rows are files or clips."""

from __future__ import annotations

from dataclasses import dataclass

from curator_core.sdk import TableBatch

__all__ = ["VideoBatch"]


@dataclass
class VideoBatch(TableBatch):
    """A table of videos, one per row: the place of the file (``uri``) and its properties, never its frames.

    >>> VideoBatch(data={"uri": ["talk.mp4"], "duration_s": [12.5]}).num_rows
    1
    """
