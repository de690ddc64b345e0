"""Cut long recordings for models with a limited input length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from curator_audio.sound.opening import Samples

__all__ = ["split_quietly"]

_FRAMES_PER_S = 50
_SEARCHED_FRACTION = 0.2


def split_quietly(samples: Samples, *, max_samples: int, rate: int) -> list[Samples]:
    """Cut a recording into parts of at most ``max_samples``, at the quietest moment in the last fifth of each.

    >>> [len(part) for part in split_quietly(np.zeros(10, np.float32), max_samples=20, rate=16_000)]
    [10]

    Args:
        samples: The recording.
        max_samples: Maximum number of samples in a part.
        rate: Samples per second.
    """
    parts = []
    frame = max(1, min(rate // _FRAMES_PER_S, max_samples))
    while len(samples) > max_samples:
        searched = max(frame, int(max_samples * _SEARCHED_FRACTION) // frame * frame)
        begin = max_samples - searched
        last = samples[begin:max_samples].reshape(-1, frame) if searched % frame == 0 else samples[:0]
        quietest = int(np.argmin(np.square(last).sum(axis=1))) if len(last) else 0
        middle = max(1, begin + quietest * frame + frame // 2)
        parts.append(samples[:middle])
        samples = samples[middle:]
    return [*parts, samples]
