"""Long arrays on disk: mapped where the disk is local, so that a worker touches only what it looks up."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_core.sdk import atomic_output, is_local, open_filesystem

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["load_array", "places_of", "save_array"]

_SMALL_BYTES = 1 << 16
"""A smaller array is read at once."""


def save_array(values: NDArray[Any], path: str) -> None:
    """Write an array to a file, whole or not at all."""
    with atomic_output(path) as file:
        np.lib.format.write_array(file, np.ascontiguousarray(values), allow_pickle=False)


def load_array(path: str) -> NDArray[Any]:
    """Return an array that was saved."""
    filesystem, inner = open_filesystem(path)
    if is_local(filesystem) and filesystem.size(inner) > _SMALL_BYTES:
        mapped: NDArray[Any] = np.lib.format.open_memmap(inner, mode="r")
        return mapped
    loaded: NDArray[Any] = np.lib.format.read_array(io.BytesIO(filesystem.cat_file(inner)), allow_pickle=False)
    return loaded


def places_of(chosen: NDArray[Any], numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where chosen numbers come among others: the places among the others, and those among the chosen.

    >>> places_of(np.array([2, 5, 5, 9]), np.array([7, 5, 2]))
    (array([1, 1, 2]), array([1, 2, 0]))

    Args:
        chosen: Sorted; a number may come several times.
        numbers: The others, in any order.
    """
    begins = np.searchsorted(chosen, numbers, side="left")
    counts = np.searchsorted(chosen, numbers, side="right") - begins
    places = np.repeat(np.arange(len(numbers)), counts)
    steps = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    return places, begins[places] + steps
