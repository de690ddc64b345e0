"""Curate audio: read recordings, find speech in them, rate and transcribe it, filter and write them.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.sdk import lazy_names

if TYPE_CHECKING:
    from curator_audio.batch import AudioBatch
    from curator_audio.duration_filter import DurationFilter
    from curator_audio.read_folder import ReadFolder
    from curator_audio.read_manifest import ReadManifest
    from curator_audio.resample import Resample
    from curator_audio.silence_filter import SilenceFilter
    from curator_audio.speech.asr import Asr
    from curator_audio.speech.quality import Quality
    from curator_audio.speech.vad import Vad
    from curator_audio.speech.wer_filter import WerFilter
    from curator_audio.tar import ReadTar, WriteTar
    from curator_audio.write_manifest import WriteManifest

__version__ = "0.1.0"

_HOMES = {
    "batch": ("AudioBatch",),
    "duration_filter": ("DurationFilter",),
    "read_folder": ("ReadFolder",),
    "read_manifest": ("ReadManifest",),
    "resample": ("Resample",),
    "silence_filter": ("SilenceFilter",),
    "speech.asr": ("Asr",),
    "speech.quality": ("Quality",),
    "speech.vad": ("Vad",),
    "speech.wer_filter": ("WerFilter",),
    "write_manifest": ("WriteManifest",),
    "tar": ("ReadTar", "WriteTar"),
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

__getattr__, __dir__, _ = lazy_names(__name__, _HOMES)
