"""PocketSphinx with the English model that its package carries: real recognition without a network or a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_audio.sound.decoding import SPEECH_RATE
from curator_core.sdk import MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_audio.sound.opening import Samples

__all__ = ["PocketsphinxRecogniser"]

_FULL_SCALE = 32_767


class PocketsphinxRecogniser:
    """A decoder for English, at 16 kHz.

    Args:
        stage: Name of the stage, for messages.

    Raises:
        MissingPackageError: The package is not installed.
    """

    def __init__(self, *, stage: str) -> None:
        try:
            from pocketsphinx import Decoder
        except ImportError as error:
            raise MissingPackageError(
                f"stage {stage!r}", package="pocketsphinx", pip='"curator-audio[pocketsphinx]"'
            ) from error
        self._decoder = Decoder(samprate=self.rate, loglevel="FATAL")

    @property
    def rate(self) -> int:
        return SPEECH_RATE

    def transcribe(self, recordings: Sequence[Samples]) -> list[str]:
        return [self._transcribe(each) for each in recordings]

    def _transcribe(self, samples: Samples) -> str:
        if not len(samples):
            return ""
        decoder = self._decoder
        decoder.reinit_feat()  # else it adapts, and results depend on earlier recordings
        decoder.start_utt()
        decoder.process_raw((samples * _FULL_SCALE).astype("<i2").tobytes(), no_search=False, full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        return "" if found is None else str(found.hypstr)
