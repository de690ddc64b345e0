"""Arrays as kernels take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_only"]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written to: kernels are compiled for one kind of array."""
    view: NDArray[Any] = array.view()
    view.flags.writeable = False
    return view
