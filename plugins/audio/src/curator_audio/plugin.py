"""Declare the stages and task types of curator-audio without importing them."""

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
            produces=("uri", "key", "size_bytes", "duration_s", "sample_rate", "channels", "format"),
        ),
        StageSpec(
            "read_manifest",
            target="curator_audio.read_manifest:ReadManifest",
            summary="Read manifests in the style of NeMo: JSON lines that name audio files and say what is spoken.",
            kind="reader",
            produces=("uri", "offset_s", "duration_s", "sample_rate", "channels", "format"),
        ),
        StageSpec(
            "read_tar",
            target="curator_audio.tar:ReadTar",
            summary="Read tar archives of recordings (WebDataset shards), a sample a row.",
            kind="reader",
            produces=("key", "bytes", "extension"),
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
            produces=("silence_fraction", "level_dbfs"),
        ),
        StageSpec(
            "duration_filter",
            target="curator_audio.duration_filter:DurationFilter",
            summary="Drop recordings that are too short or too long.",
            kind="filter",
        ),
        StageSpec(
            "vad",
            target="curator_audio.speech.vad:Vad",
            summary="Find speech: a row for each segment, or its fraction in columns; drop recordings with too little.",
            kind="model",
            requires=("onnxruntime", "silero_vad"),
            extra="vad",
            produces=("segment_start_s", "segment_end_s", "offset_s", "duration_s"),
        ),
        StageSpec(
            "quality",
            target="curator_audio.speech.quality:Quality",
            summary="Rate the quality of speech (DNSMOS), and drop recordings below a score.",
            kind="model",
            requires=("onnxruntime", "speechmos"),
            extra="quality",
            produces=("mos_signal", "mos_background", "mos_overall", "mos_p808"),
        ),
        StageSpec(
            "asr",
            target="curator_audio.speech.asr:Asr",
            summary="Transcribe speech with any model of transformers, or with PocketSphinx.",
            kind="model",
            produces=("transcript",),
        ),
        StageSpec(
            "wer_filter",
            target="curator_audio.speech.wer_filter:WerFilter",
            summary="Drop recordings whose transcript differs from the recognised text.",
            kind="filter",
            requires=("jiwer",),
            extra="wer",
            produces=("wer",),
        ),
        StageSpec(
            "write_manifest",
            target="curator_audio.write_manifest:WriteManifest",
            summary="Write manifests in the style of NeMo, with the audio files or references to them.",
            kind="writer",
        ),
        StageSpec(
            "write_tar",
            target="curator_audio.tar:WriteTar",
            summary="Write recordings to tar archives (WebDataset shards), untouched.",
            kind="writer",
        ),
    ]


@hookimpl
def curator_task_types() -> list[TaskTypeSpec]:
    return [TaskTypeSpec("AudioBatch", target="curator_audio.batch:AudioBatch", summary="A table of recordings.")]
