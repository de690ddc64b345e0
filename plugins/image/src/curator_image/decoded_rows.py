"""Decode the images of a batch a few at a time, for stages that compute something of their pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from curator_core.sdk import DataError
from curator_image.decoding import decode_rgb
from curator_image.headers import image_values, quarantine_unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from curator_core.sdk import TableBatch

__all__ = ["compute_of_pixels"]


def compute_of_pixels(
    batch: TableBatch,
    bytes_field: str,
    compute: Callable[[Sequence[NDArray[np.uint8]]], NDArray[Any]],
    *,
    at_a_time: int,
    side: int | None,
    max_pixels: int | None,
) -> tuple[TableBatch, NDArray[Any] | None, NDArray[np.bool_]]:
    """Return the batch without its unreadable images, what was computed of the others, and which rows have an image.

    Only ``at_a_time`` images are decoded at once: pixels are many times larger than the files.

    Args:
        batch: The rows.
        bytes_field: Column with the encoded images.
        compute: Makes one row of numbers of each image (height by width by red, green and blue).
        at_a_time: How many images it gets at once, at most.
        side: Pixels of the shorter side that are enough; None for all.
        max_pixels: An image that claims more counts as unreadable; None for no limit.

    Returns:
        The batch; the numbers, one row per row that has an image, or None where none has; which rows have one.
    """
    errors: list[str | None] = []
    has_image: list[bool] = []
    results: list[NDArray[Any]] = []
    waiting: list[NDArray[np.uint8]] = []
    for value in image_values(batch, bytes_field):
        error = None
        if value.is_valid:
            try:
                waiting.append(decode_rgb(value.as_buffer(), side=side, max_pixels=max_pixels))
            except DataError as problem:
                error = problem.message
        errors.append(error)
        has_image.append(value.is_valid)
        if len(waiting) >= at_a_time:
            results.append(compute(waiting))
            waiting = []
    if waiting:
        results.append(compute(waiting))
    frame = pl.DataFrame(
        {"error": errors, "has_image": has_image}, schema={"error": pl.String, "has_image": pl.Boolean}
    )
    kept, frame = quarantine_unreadable(batch, frame)
    return kept, np.concatenate(results) if results else None, frame["has_image"].to_numpy()
