"""Limits for recordings, against small files that decode to days of sound."""

from __future__ import annotations

from dataclasses import dataclass

from curator_core.sdk import ConfigError, DataError

__all__ = ["AudioLimits"]


@dataclass(frozen=True, slots=True)
class AudioLimits:
    """Limits for decoded sound. At 16 kHz, an hour of samples takes 230 MB of memory.

    >>> AudioLimits(max_duration_s=60).check(frames=16_000, rate=16_000, channels=1)

    Args:
        max_duration_s: Longest recording, or part of one, that is decoded.
        max_channels: Maximum number of channels.
        min_rate: Minimum sample rate.
        max_rate: Maximum sample rate.
    """

    max_duration_s: float = 3600.0
    max_channels: int = 64
    min_rate: int = 1000
    max_rate: int = 768_000

    def __post_init__(self) -> None:
        if self.max_duration_s <= 0:
            raise ConfigError(f"max_duration_s must be positive, got {self.max_duration_s}")

    def check(self, *, frames: int, rate: int, channels: int) -> None:
        """Refuse a recording that exceeds a limit.

        Raises:
            DataError: It is too long, has too many channels, or an impossible sample rate.
        """
        if not self.min_rate <= rate <= self.max_rate:
            raise DataError(f"a sample rate of {rate:,} Hz is not within {self.min_rate:,} to {self.max_rate:,}")
        if not 1 <= channels <= self.max_channels:
            raise DataError(f"{channels:,} channels are not within 1 to {self.max_channels}")
        if frames > self.max_duration_s * rate:
            raise DataError(
                f"it lasts {frames / rate:,.0f} s, longer than max_duration_s={self.max_duration_s:g}; "
                "raise max_duration_s, or cut it into parts"
            )
