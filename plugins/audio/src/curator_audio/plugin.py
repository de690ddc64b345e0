"""What curator-audio offers, declared without importing any of it."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec, TaskTypeSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "read_folder",
            target="curator_audio.read_folder:ReadFolder",
            summary="Read audio files, one a row, with duration, sample rate, channels and format.",
            kind="reader",
            produces=("uri", "size_bytes", "duration_s", "sample_rate", "channels", "format"),
        ),
        StageSpec(
            "read_manifest",
            target="curator_audio.read_manifest:ReadManifest",
            summary="Read manifests in the style of NeMo: JSON lines that name audio files and say what is spoken.",
            kind="reader",
            produces=("uri", "offset_s", "duration_s", "sample_rate", "channels", "format"),
        ),
        StageSpec(
            "resample",
            target="curator_audio.resample:Resample",
            summary="Bring recordings to one sample rate, format and number of channels.",
            kind="modifier",
            produces=("bytes", "duration_s", "sample_rate", "channels", "format", "size_bytes"),
        ),
        StageSpec(
            "silence_filter",
            target="curator_audio.silence_filter:SilenceFilter",
            summary="Drop recordings that are silent, mostly silent, or too quiet.",
            kind="filter",
            produces=("silence_share", "level_dbfs"),
        ),
        StageSpec(
            "duration_filter",
            target="curator_audio.duration_filter:DurationFilter",
            summary="Drop recordings that are too short or too long.",
            kind="filter",
        ),
    ]


@hookimpl
def curator_task_types() -> list[TaskTypeSpec]:
    return [TaskTypeSpec("AudioBatch", target="curator_audio.batch:AudioBatch", summary="A table of recordings.")]
