"""What curator-video offers, declared without importing any of it."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec, TaskTypeSpec

CURATOR_API = (1, 0)


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
                "width",
                "height",
                "fps",
                "duration_s",
                "codec",
                "num_frames",
                "has_audio",
                "size_bytes",
            ),
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
