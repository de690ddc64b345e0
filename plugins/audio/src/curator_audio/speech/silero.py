"""The voice activity detector of the package silero-vad, run by onnxruntime alone: neither torch nor torchaudio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from curator_audio.sound.decoding import SPEECH_RATE
from curator_audio.speech.onnx_session import open_session, packaged_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_audio.sound.decoding import Samples

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

    def probabilities(self, samples: Samples) -> NDArray[np.float32]:
        """Return the probability of speech for every window of 32 ms; what is missing of the last one is silence."""
        count = -(-len(samples) // _WINDOW)
        framed = np.zeros(_CONTEXT + count * _WINDOW, np.float32)
        framed[_CONTEXT : _CONTEXT + len(samples)] = samples
        windows = np.lib.stride_tricks.sliding_window_view(framed, _CONTEXT + _WINDOW)[::_WINDOW] if count else ()
        hidden = cell = np.zeros(_STATE, np.float32)
        found = [np.zeros(0, np.float32)]
        for start in range(0, count, _WINDOWS_PER_CALL):
            block = np.ascontiguousarray(windows[start : start + _WINDOWS_PER_CALL])
            speech, hidden, cell = self._session.run(
                ["speech_probs", "hn", "cn"], {"input": block, "h": hidden, "c": cell}
            )
            found.append(speech.reshape(-1))
        return np.concatenate(found)
