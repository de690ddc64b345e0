"""Declare the stages and task types of curator-image without importing them."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec, TaskTypeSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "read_tar",
            target="curator_image.tar:ReadTar",
            summary="Read tar archives of images (WebDataset shards), with captions and other sidecars.",
            kind="reader",
            produces=("key", "bytes", "extension"),
        ),
        StageSpec(
            "read_folder",
            target="curator_image.read_folder:ReadFolder",
            summary="Read image files, one a row, with their bytes untouched.",
            kind="reader",
            produces=("uri", "key", "bytes", "size_bytes"),
        ),
        StageSpec("read_parquet", alias_of="table.read_parquet"),
        StageSpec(
            "probe",
            target="curator_image.probe:Probe",
            summary="Add width, height, format and mode from the image header.",
            kind="annotator",
            produces=("width", "height", "format", "mode"),
        ),
        StageSpec(
            "size_filter",
            target="curator_image.size_filters:SizeFilter",
            summary="Drop images that are too small, or too large to decode safely.",
            kind="filter",
        ),
        StageSpec(
            "aspect_filter",
            target="curator_image.size_filters:AspectFilter",
            summary="Drop images that are too long for their width, by the header alone.",
            kind="filter",
        ),
        StageSpec(
            "quality_filter",
            target="curator_image.quality_filter:QualityFilter",
            summary="Drop images that are blurred, too dark, too bright, or show nothing.",
            kind="filter",
        ),
        StageSpec(
            "phash",
            target="curator_image.phash:Phash",
            summary="Add a 64-bit perceptual hash, for finding scaled and re-encoded copies.",
            kind="annotator",
            produces=("phash",),
        ),
        StageSpec(
            "embed",
            target="curator_image.embed:Embed",
            summary="Add the vector that a vision model makes of each image.",
            kind="model",
            requires=("torch", "transformers"),
            extra="models",
            produces=("embedding",),
        ),
        StageSpec(
            "nsfw",
            target="curator_image.nsfw:Nsfw",
            summary="Drop images that show nudity.",
            kind="model",
            requires=("nudenet", "onnxruntime"),
            extra="nsfw",
        ),
        StageSpec(
            "write_tar",
            target="curator_image.tar:WriteTar",
            summary="Write images to tar archives (WebDataset shards), byte for byte as read.",
            kind="writer",
        ),
        StageSpec("write_parquet", alias_of="table.write_parquet"),
    ]


@hookimpl
def curator_task_types() -> list[TaskTypeSpec]:
    return [TaskTypeSpec("ImageBatch", target="curator_image.batch:ImageBatch", summary="A table of images.")]
