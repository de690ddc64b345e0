"""The task type of audio: rows are recordings or segments."""

from __future__ import annotations

from dataclasses import dataclass

from curator_core.sdk import TableBatch

__all__ = ["AudioBatch"]


@dataclass
class AudioBatch(TableBatch):
    """A table of recordings, one per row: the place of the file (``uri``), optionally its bytes, and transcripts.

    >>> AudioBatch(data={"uri": ["hello.wav"], "duration_s": [1.5]}).num_rows
    1
    """
