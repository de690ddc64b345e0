"""The quality filter on photographs against Pillow's full decode with the same measures."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pyarrow as pa
from PIL import Image

from curator_image import ImageBatch, Phash, QualityFilter, SizeFilter
from curator_image.looks import LOOK_SIDE, look_at
from image_comparison.cpu_time import best_cpu_seconds

_HEADER_REPEATS = 20

if TYPE_CHECKING:
    from collections.abc import Sequence


def jpeg_cases(photographs: Sequence[bytes], rounds: int) -> dict[str, float]:
    """Return CPU milliseconds per photograph of every case."""
    column = pa.array(photographs, pa.large_binary())
    decoded = {
        "jpeg: curator, quality_filter": lambda: _run(column, QualityFilter(tag=True)),
        "jpeg: curator, quality_filter and phash": lambda: _run(column, QualityFilter(tag=True), Phash()),
        "jpeg: Pillow, full decode, measures on all pixels": lambda: [look_at(_full(each)) for each in photographs],
        "jpeg: Pillow, full decode, scaled, same measures": lambda: [look_at(_scaled(each)) for each in photographs],
        "jpeg: Pillow, full decode alone": lambda: [_full(each) for each in photographs],
        "header: Pillow, full decode as data-juicer does": lambda: [_rgb(each).size for each in photographs],
    }
    many = list(photographs) * _HEADER_REPEATS  # what is read of each is little, so that more are needed to measure it
    longer = pa.array(many, pa.large_binary())
    headers = {
        "header: curator, size_filter": lambda: _run(longer, SizeFilter(tag=True)),
        "header: Pillow": lambda: [Image.open(io.BytesIO(each)).size for each in many],
    }
    cases = {name: value / len(photographs) for name, value in best_cpu_seconds(decoded, rounds).items()}
    cases |= {name: value / len(many) for name, value in best_cpu_seconds(headers, rounds).items()}
    return {name: round(value * 1e3, 4) for name, value in cases.items()}


def _run(column: pa.Array, *stages: QualityFilter | Phash | SizeFilter) -> None:
    batch = ImageBatch(data=pa.table({"bytes": column}))  # a new table: nothing is known of it yet
    for stage in stages:
        batch = stage.process(batch)


def jpeg_ratios(cases: dict[str, float]) -> dict[str, float]:
    """Return how many times as cheap ours is."""
    ours, header = cases["jpeg: curator, quality_filter"], cases["header: curator, size_filter"]
    found = {f"{name} / quality_filter": cases[name] / ours for name in cases if name.startswith("jpeg: Pillow")}
    found |= {f"{name} / size_filter": cases[name] / header for name in cases if name.startswith("header: Pillow")}
    both = cases["jpeg: curator, quality_filter and phash"]
    return {name: round(value, 2) for name, value in (found | {"quality_filter and phash / one": both / ours}).items()}


def _rgb(data: bytes) -> Image.Image:
    with Image.open(io.BytesIO(data)) as image:
        return image.convert("RGB")


def _full(data: bytes) -> Image.Image:
    return _rgb(data).convert("L")


def _scaled(data: bytes) -> Image.Image:
    grey = _full(data)
    factor = 1
    while min(grey.size) >= LOOK_SIDE * factor * 2:
        factor *= 2
    return grey.reduce(factor)
