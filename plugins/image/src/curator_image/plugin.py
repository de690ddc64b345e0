"""What curator-image offers, declared without importing any of it."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec, TaskTypeSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "read_folder",
            target="curator_image.read_folder:ReadFolder",
            summary="Read image files, one a row, with their bytes untouched.",
            kind="reader",
            produces=("uri", "bytes", "size_bytes"),
        ),
        StageSpec(
            "probe",
            target="curator_image.probe:Probe",
            summary="Add width, height, format and mode from the image header.",
            kind="annotator",
            produces=("width", "height", "format", "mode"),
        ),
        StageSpec(
            "size_filter",
            target="curator_image.size_filter:SizeFilter",
            summary="Drop images that are too small, or too large to decode safely.",
            kind="filter",
        ),
    ]


@hookimpl
def curator_task_types() -> list[TaskTypeSpec]:
    return [TaskTypeSpec("ImageBatch", target="curator_image.batch:ImageBatch", summary="A table of images.")]
