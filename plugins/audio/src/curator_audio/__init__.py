"""Curate audio: read recordings, find out what they hold, filter them.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_audio.batch import AudioBatch
    from curator_audio.duration_filter import DurationFilter
    from curator_audio.read_folder import ReadFolder
    from curator_audio.read_manifest import ReadManifest
    from curator_audio.resample import Resample
    from curator_audio.silence_filter import SilenceFilter

__version__ = "0.1.0"

_HOME = {
    "AudioBatch": "batch",
    "DurationFilter": "duration_filter",
    "ReadFolder": "read_folder",
    "ReadManifest": "read_manifest",
    "Resample": "resample",
    "SilenceFilter": "silence_filter",
}

__all__ = ["AudioBatch", "DurationFilter", "ReadFolder", "ReadManifest", "Resample", "SilenceFilter"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
