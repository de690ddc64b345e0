"""Declare the stages and task types of curator-video without importing them."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec, TaskTypeSpec

CURATOR_API = (1, 0)

_CLIP = ("clip_id", "start_s", "end_s", "duration_s", "num_frames")


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "read",
            target="curator_video.read:Read",
            summary="List video files, one a row, with size, rate, duration and codec.",
            kind="reader",
            produces=(
                "uri",
                "key",
                "width",
                "height",
                "rotation",
                "fps",
                "duration_s",
                "codec",
                "num_frames",
                "has_audio",
                "size_bytes",
                "clip_id",
                "start_s",
                "end_s",
            ),
        ),
        StageSpec(
            "split_fixed",
            target="curator_video.split_fixed:SplitFixed",
            summary="Cut videos into clips of one length.",
            kind="modifier",
            produces=_CLIP,
        ),
        StageSpec(
            "split_scenes",
            target="curator_video.split_scenes:SplitScenes",
            summary="Cut videos where scenes change (PySceneDetect).",
            kind="modifier",
            requires=("scenedetect",),
            extra="scenes",
            produces=_CLIP,
        ),
        StageSpec(
            "motion_filter",
            target="curator_video.motion_filter:MotionFilter",
            summary="Drop clips in which nothing moves, or too much.",
            kind="filter",
        ),
        StageSpec(
            "sample_frames",
            target="curator_video.sample_frames:SampleFrames",
            summary="Take some frames of each clip, as JPEG.",
            kind="modifier",
            produces=("frames", "frame_times_s"),
        ),
        StageSpec(
            "embed",
            target="curator_video.embed:Embed",
            summary="Add a vector per clip, made by a vision model of some of its frames.",
            kind="model",
            requires=("PIL", "safetensors", "torch", "transformers"),
            extra="models",
            produces=("embedding",),
        ),
        StageSpec(
            "extract_audio",
            target="curator_video.extract_audio:ExtractAudio",
            summary="Add the sound of each clip as an audio file.",
            kind="modifier",
            produces=("audio",),
        ),
        StageSpec(
            "write_clips",
            target="curator_video.write_clips:WriteClips",
            summary="Write clips to files of their own, copied where possible, with a manifest.",
            kind="writer",
        ),
        StageSpec(
            "duration_filter",
            target="curator_video.duration_filter:DurationFilter",
            summary="Drop videos that are too short or too long.",
            kind="filter",
        ),
    ]


@hookimpl
def curator_task_types() -> list[TaskTypeSpec]:
    return [TaskTypeSpec("VideoBatch", target="curator_video.batch:VideoBatch", summary="A table of videos.")]
