"""The voice activity detector of the package silero-vad, run by onnxruntime alone: neither torch nor torchaudio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from curator_audio.sound.decoding import SPEECH_RATE
from curator_audio.speech.onnx_session import open_session, packaged_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from curator_audio.sound.opening import Samples

__all__ = ["WINDOW_S", "Silero"]

_WINDOW: Final = 512
_CONTEXT: Final = 64
_STATE: Final = (1, 1, 128)
_WINDOWS_PER_CALL: Final = 512
WINDOW_S: Final = _WINDOW / SPEECH_RATE
"""Seconds of sound that one probability is about."""


class Silero:
    """A loaded detector. It keeps nothing between calls, so that threads may share it.

    Args:
        stage: Name of the stage, for messages.
        threads: CPUs that it may use.
    """

    def __init__(self, *, stage: str, threads: float = 1) -> None:
        weights = packaged_file(
            "silero_vad", "data/silero_vad_16k_sequence.onnx", stage=stage, pip='"curator-audio[vad]"'
        )
        self._session = open_session(weights, threads=threads)

    def probabilities(self, blocks: Iterable[Samples]) -> NDArray[np.float32]:
        """Return the probability of speech for every window of 32 ms; the last one is padded with silence.

        Args:
            blocks: The recording, at 16 kHz, in pieces of any length: the results are the same for all.
        """
        hidden = cell = np.zeros(_STATE, np.float32)
        found = [np.zeros(0, np.float32)]
        for windows in _windows(blocks):
            speech, hidden, cell = self._session.run(
                ["speech_probs", "hn", "cn"], {"input": windows, "h": hidden, "c": cell}
            )
            found.append(speech.reshape(-1))
        return np.concatenate(found)


def _windows(blocks: Iterable[Samples]) -> Iterator[NDArray[np.float32]]:
    """Yield windows with the samples before them, in groups of a size that does not depend on the blocks."""
    call = _WINDOWS_PER_CALL * _WINDOW
    rest = np.zeros(_CONTEXT, np.float32)
    for block in blocks:
        rest = np.concatenate([rest, block])
        while len(rest) >= _CONTEXT + call:
            yield _framed(rest[: _CONTEXT + call])
            rest = rest[call:]
    if len(rest) > _CONTEXT:
        missing = -(len(rest) - _CONTEXT) % _WINDOW
        yield _framed(np.pad(rest, (0, missing)))


def _framed(samples: Samples) -> NDArray[np.float32]:
    return np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(samples, _CONTEXT + _WINDOW)[::_WINDOW])
