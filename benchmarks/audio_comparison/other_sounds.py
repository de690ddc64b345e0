"""Sounds that are no speech, generated: each 3 s long, at 16 kHz, always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE = 16_000
_KEYS = [(low, high) for low in (697, 770, 852, 941) for high in (1209, 1336, 1477)]


def other_sounds() -> dict[str, NDArray[np.float32]]:
    """Return the sounds by name: tones, chords, keys of a telephone, sweeps, hums, clicks, noises and silences."""
    time = np.arange(3 * RATE) / RATE
    draw = np.random.default_rng(20261117)

    def tone(*hertz: float, level: float = 0.3) -> NDArray[np.float64]:
        return level * sum(np.sin(2 * np.pi * each * time) for each in hertz) / len(hertz)

    sounds = {f"tone {hertz}": tone(hertz) for hertz in (100, 220, 440, 1000, 2500, 5000)}
    sounds |= {f"key {low}+{high}": tone(low, high) * (time % 0.5 < 0.2) for low, high in _KEYS}
    sounds |= {f"chord {root}": tone(root, root * 5 / 4, root * 3 / 2) for root in (131, 262, 523)}
    sounds |= {
        f"sweep to {top}": 0.3 * np.sin(2 * np.pi * (100 + (top - 100) * time / 6) * time) for top in (1000, 7000)
    }
    sounds |= {f"hum {hertz}": tone(*(hertz * harmonic for harmonic in range(1, 9))) for hertz in (50, 60)}
    sounds |= {f"clicks {rate}": 0.5 * (np.arange(len(time)) % (RATE // rate) < 4) for rate in (2, 10)}
    sounds |= {f"white noise {level}": level * draw.standard_normal(len(time)) for level in (0.01, 0.05, 0.2)}
    brown = np.cumsum(draw.standard_normal(len(time)))
    sounds["brown noise"] = 0.3 * (brown - brown.mean()) / np.abs(brown).max()
    sounds["crackle"] = 0.5 * (draw.random(len(time)) > 0.999)
    sounds["surf"] = 0.1 * draw.standard_normal(len(time)) * (1 + np.sin(2 * np.pi * 0.4 * time))
    sounds["busy line"] = tone(480, 620) * (time % 1 < 0.5)
    sounds["ringing line"] = tone(440, 480) * (time % 3 < 2)
    sounds |= {f"silence {level}": level * draw.standard_normal(len(time)) for level in (0.0, 1e-4, 1e-3)}
    sounds["step"] = 0.2 * np.sign(np.sin(2 * np.pi * 3 * time))
    return {name: np.clip(samples, -1, 1).astype(np.float32) for name, samples in sounds.items()}
