"""How a frame is shown: turned and mirrored as the file asks for, with square pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import av
import numpy as np
from av.sidedata.sidedata import SideDataContainer

if TYPE_CHECKING:
    from fractions import Fraction

    from av.video.frame import VideoFrame
    from av.video.reformatter import VideoReformatter

__all__ = ["USUAL_BITS", "Orientation", "as_shown", "bits_per_sample", "orientation_of", "shown_size", "side_data"]

USUAL_BITS = 8
"""Bits of a sample in most videos."""
_SLANT = 0.01
"""A picture whose rotation differs from a right angle by more than these radians stays as it is stored."""


@dataclass(frozen=True, slots=True)
class Orientation:
    """How a stored picture is turned to be shown: first rows become columns, then they are mirrored.

    Args:
        is_transposed: Whether rows become columns.
        mirrors_rows: Whether each row is then read backwards.
        mirrors_columns: Whether each column is then read backwards.
    """

    is_transposed: bool = False
    mirrors_rows: bool = False
    mirrors_columns: bool = False


_STORED = Orientation()


def side_data(picture: VideoFrame, kind: str) -> Any:
    """Return the side data of a decoded frame, or None.

    Not ``picture.side_data``: that and the frame hold each other, so that both stay until garbage is collected.
    """
    return SideDataContainer(picture).get(kind)  # type: ignore[call-arg]  # not in PyAV's stubs


def orientation_of(picture: VideoFrame) -> Orientation:
    """Return how a decoded frame is to be turned."""
    matrix = side_data(picture, "DISPLAYMATRIX")
    if matrix is None:
        return _STORED
    right_x, right_y, _, down_x, down_y, *_ = np.frombuffer(bytes(matrix), np.int32).tolist()
    straight, crossed = max(abs(right_x), abs(down_y)), max(abs(right_y), abs(down_x))
    if crossed <= _SLANT * straight:
        return Orientation(False, right_x < 0, down_y < 0)
    if straight <= _SLANT * crossed:
        return Orientation(True, down_x < 0, right_y < 0)
    return _STORED


def shown_size(picture: VideoFrame, pixel_aspect: Fraction | None) -> tuple[int, int]:
    """Return width and height of a picture as it is shown; no side gets smaller by making pixels square.

    Args:
        picture: As it is stored.
        pixel_aspect: Width of a stored pixel over its height.
    """
    width, height = picture.width, picture.height
    if pixel_aspect is not None and pixel_aspect > 1:
        width = _even(width * pixel_aspect)
    elif pixel_aspect is not None and 0 < pixel_aspect < 1:
        height = _even(height / pixel_aspect)
    return (height, width) if orientation_of(picture).is_transposed else (width, height)


def as_shown(
    reformatter: VideoReformatter, picture: VideoFrame, size: tuple[int, int], pixels: str, **options: Any
) -> VideoFrame:
    """Return a picture as players show it.

    Args:
        reformatter: Scales it, and keeps what it has prepared for the next one.
        picture: As it is stored.
        size: Width and height that it shall have when it is shown.
        pixels: Format of the pixels: one with planes.
        options: More for the reformatter.
    """
    orientation = orientation_of(picture)
    stored = size[::-1] if orientation.is_transposed else size
    scaled = reformatter.reformat(picture, *stored, pixels, threads=1, **options)
    return scaled if orientation == _STORED else _turned(scaled, size, orientation)


def _turned(picture: VideoFrame, size: tuple[int, int], orientation: Orientation) -> VideoFrame:
    """Turn each plane by itself: colours and bits stay as they are."""
    turned = av.VideoFrame(*size, picture.format.name)
    kind = np.dtype(np.uint8 if bits_per_sample(picture) <= USUAL_BITS else np.uint16)
    for source, target in zip(picture.planes, turned.planes, strict=True):
        rows = np.frombuffer(memoryview(source), kind).reshape(source.height, -1)[:, : source.width]
        if orientation.is_transposed:
            rows = rows.T
        if orientation.mirrors_rows:
            rows = rows[:, ::-1]
        if orientation.mirrors_columns:
            rows = rows[::-1]
        padded = np.zeros((target.height, target.line_size // kind.itemsize), kind)
        padded[:, : target.width] = rows
        target.update(padded.tobytes())
    turned.pts, turned.time_base = picture.pts, picture.time_base
    turned.colorspace, turned.color_range = picture.colorspace, picture.color_range
    return turned


def bits_per_sample(picture: VideoFrame) -> int:
    """Return the most bits that a sample of a picture has."""
    return max(component.bits for component in picture.format.components)


def _even(length: Fraction) -> int:
    return max(2, 2 * round(length / 2))
