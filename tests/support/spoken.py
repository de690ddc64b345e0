"""Speech for tests, made on the spot by espeak-ng, which the package espeakng-loader carries as a library."""

from __future__ import annotations

import ctypes
from functools import cache

import espeakng_loader
import numpy as np

_SYNCHRONOUS = 2  # AUDIO_OUTPUT_SYNCHRONOUS: samples go to the callback, espeak_Synth returns when all are there
_UTF8 = 1
_RATE = 1  # espeakRATE: words per minute

_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


@cache
def _engine():
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    rate = library.espeak_Initialize(_SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    assert rate > 0
    library.espeak_SetVoiceByName(b"en-us")
    library.espeak_SetParameter(_RATE, 140, 0)
    return library, rate


def speak(text: str) -> tuple[np.ndarray, int]:
    """Return the samples (float32, -1 to 1) of a spoken sentence, and their rate."""
    library, rate = _engine()
    pieces: list[np.ndarray] = []

    def take(samples, count, _events):
        if count > 0:
            pieces.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    callback = _Callback(take)
    library.espeak_SetSynthCallback(callback)
    data = text.encode()
    status = library.espeak_Synth(data, len(data) + 1, 0, 0, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    assert status == 0
    return np.concatenate(pieces).astype(np.float32) / 32768, rate
