"""The interface between ``audio.asr`` and its speech recognition backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_audio.sound.opening import Samples

__all__ = ["Recogniser"]


class Recogniser(Protocol):
    """A loaded recogniser. Its transcript of a recording must not depend on earlier recordings."""

    @property
    def rate(self) -> int:
        """Sample rate that it hears."""

    def transcribe(self, recordings: Sequence[Samples]) -> list[str]:
        """Return the transcript of each recording; an empty text for one without speech."""
