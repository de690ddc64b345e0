"""How much of a video file is believed and how long one is worked on."""

from __future__ import annotations

import time
from dataclasses import dataclass

from curator_core.sdk import ConfigError, DataError

__all__ = ["Deadline", "VideoLimits"]


@dataclass(frozen=True)
class VideoLimits:
    """Limits for one file or clip; rows beyond them are quarantined.

    >>> VideoLimits(timeout_s=60).max_streams
    64

    Args:
        timeout_s: Maximum number of seconds, by the clock, that a stage spends on one row; looked at between packets
            and frames.
        max_pixels: Maximum number of pixels in a frame; the decoder refuses larger ones before it allocates them.
        max_duration_s: Longest video.
        max_streams: Maximum number of streams in a container.
    """

    timeout_s: float = 600.0
    max_pixels: int = 8192 * 8192
    max_duration_s: float = 24 * 3600.0
    max_streams: int = 64

    def __post_init__(self) -> None:
        for name in ("timeout_s", "max_pixels", "max_duration_s", "max_streams"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"the limit {name} must be positive, got {getattr(self, name)}")


class Deadline:
    """The moment at which work on a row ends.

    Args:
        timeout_s: Seconds from now.
        source: The file, for the message.
    """

    def __init__(self, timeout_s: float, *, source: str) -> None:
        self._end = time.monotonic() + timeout_s
        self._timeout_s = timeout_s
        self._source = source

    def check(self) -> None:
        """Raise when the time is over.

        Raises:
            DataError: It is.
        """
        if time.monotonic() > self._end:
            raise DataError(f"the video took more than {self._timeout_s:g} s; raise timeout_s", source=self._source)
