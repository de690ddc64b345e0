"""Curate audio: read recordings, find speech in them, rate and transcribe it, filter and write them.

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
    from curator_audio.read_tar import ReadTar
    from curator_audio.resample import Resample
    from curator_audio.silence_filter import SilenceFilter
    from curator_audio.speech.asr import Asr
    from curator_audio.speech.quality import Quality
    from curator_audio.speech.vad import Vad
    from curator_audio.speech.wer_filter import WerFilter
    from curator_audio.write_manifest import WriteManifest
    from curator_audio.write_tar import WriteTar

__version__ = "0.1.0"

_HOME = {
    "Asr": "speech.asr",
    "AudioBatch": "batch",
    "DurationFilter": "duration_filter",
    "Quality": "speech.quality",
    "ReadFolder": "read_folder",
    "ReadManifest": "read_manifest",
    "ReadTar": "read_tar",
    "Resample": "resample",
    "SilenceFilter": "silence_filter",
    "Vad": "speech.vad",
    "WerFilter": "speech.wer_filter",
    "WriteManifest": "write_manifest",
    "WriteTar": "write_tar",
}

__all__ = [
    "Asr",
    "AudioBatch",
    "DurationFilter",
    "Quality",
    "ReadFolder",
    "ReadManifest",
    "ReadTar",
    "Resample",
    "SilenceFilter",
    "Vad",
    "WerFilter",
    "WriteManifest",
    "WriteTar",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
