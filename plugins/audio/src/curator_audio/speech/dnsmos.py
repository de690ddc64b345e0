"""DNSMOS: how people would rate the quality of speech, as the networks of the package speechmos predict it.

Reddy, Gopal and Cutler, "DNSMOS P.835" (2022). The networks hear 9.01 s at a time; shorter recordings are repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from curator_audio.sound.decoding import SPEECH_RATE
from curator_audio.speech.onnx_session import open_session, packaged_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_audio.sound.opening import Samples

__all__ = ["Dnsmos", "QualityScores", "log_mel"]

_HEARD_S: Final = 9.01
_HEARD: Final = int(_HEARD_S * SPEECH_RATE)
_FRAME: Final = 321
_HOP: Final = 160
_MELS: Final = 120
# From the raw outputs of the network to mean opinion scores: speechmos, for P.835 without personalisation.
_SIGNAL: Final = (-0.08397278, 1.22083953, 0.0052439)
_BACKGROUND: Final = (-0.13166888, 1.60915514, -0.39604546)
_OVERALL: Final = (-0.06766283, 1.11546468, 0.04602535)


@dataclass(frozen=True, slots=True)
class QualityScores:
    """Mean opinion scores from 1 (bad) to 5 (excellent).

    Args:
        mos_signal: How undistorted the speech is.
        mos_background: How unobtrusive the background is.
        mos_overall: How good the whole is.
        mos_p808: How good the whole is, by the older network for P.808.
    """

    mos_signal: float
    mos_background: float
    mos_overall: float
    mos_p808: float


class Dnsmos:
    """The loaded networks.

    Args:
        stage: Name of the stage, for messages.
        threads: CPUs that they may use.
    """

    def __init__(self, *, stage: str, threads: float = 1) -> None:
        pip = '"curator-audio[quality]"'
        names = ("dnsmos_models/sig_bak_ovr.onnx", "dnsmos_models/model_v8.onnx")
        self._p835, self._p808 = (
            open_session(packaged_file("speechmos", name, stage=stage, pip=pip), threads=threads) for name in names
        )

    def score(self, samples: Samples, *, hop_s: float) -> QualityScores | None:
        """Return the mean scores over the windows of a recording; None where it has no samples.

        Args:
            samples: The recording, at 16 kHz.
            hop_s: Seconds from the start of a window to that of the next.
        """
        if not len(samples):
            return None
        if len(samples) < _HEARD:
            # speechmos also rates copies of the repeated recording that start elsewhere: up to eight times the work.
            samples = np.tile(samples, -(-_HEARD // len(samples)))[:_HEARD]
        room_s = max(0.0, len(samples) // SPEECH_RATE - _HEARD_S)  # in whole seconds, as there
        starts = [round(number * hop_s * SPEECH_RATE) for number in range(int(room_s / hop_s) + 1)]
        scores = np.mean([self._window(samples[start : start + _HEARD]) for start in starts], axis=0)
        return QualityScores(*map(float, scores))

    def _window(self, samples: Samples) -> list[float]:
        raw = self._p835.run(None, {"input_1": samples[None]})[0][0]
        older = self._p808.run(None, {"input_1": log_mel(samples[:-_HOP])[None]})[0]
        polynomials = zip((_SIGNAL, _BACKGROUND, _OVERALL), raw, strict=True)
        return [*(float(np.polyval(polynomial, value)) for polynomial, value in polynomials), float(older.item())]


def log_mel(samples: Samples) -> NDArray[np.float32]:
    """Return the input of the network for P.808: the decibels of 120 mel bands, (frames, bands), shifted and scaled."""
    padded = np.pad(samples, _FRAME // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME)[::_HOP]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME) / _FRAME)
    spectrum = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    bands = np.maximum(spectrum @ _mel_filters().T, 1e-10)
    decibels = 10 * np.log10(bands / bands.max())
    scaled: NDArray[np.float32] = ((np.maximum(decibels, -80) + 40) / 40).astype(np.float32)
    return scaled


@lru_cache(maxsize=1)
def _mel_filters() -> NDArray[np.float64]:
    """Return triangles of equal area, evenly spaced on Slaney's mel scale: linear to 1 kHz, logarithmic above."""
    linear_hertz, mels_per_hertz, octave = 1000.0, 3 / 200, np.log(6.4) / 27
    knee = linear_hertz * mels_per_hertz
    top = knee + np.log(SPEECH_RATE / 2 / linear_hertz) / octave
    mels = np.linspace(0, top, _MELS + 2)
    edges = np.where(mels < knee, mels / mels_per_hertz, linear_hertz * np.exp(octave * (mels - knee)))
    bins = np.arange(_FRAME // 2 + 1) * SPEECH_RATE / _FRAME
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    return np.maximum(0, np.minimum(rising, falling)) * (2 / (edges[2:] - edges[:-2]))[:, None]
