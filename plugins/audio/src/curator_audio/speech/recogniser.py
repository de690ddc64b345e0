"""What recognises speech: the contract between ``audio.asr`` and its backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_audio.sound.opening import Samples

__all__ = ["Recogniser"]


class Recogniser(Protocol):
    """A loaded recogniser. What it says of a recording must not depend on those before it."""

    @property
    def rate(self) -> int:
        """Sample rate that it hears."""

    def transcribe(self, recordings: Sequence[Samples]) -> list[str]:
        """Return what is said in each recording; an empty text where nothing is."""
