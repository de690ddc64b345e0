"""Hold the garbage collector back for a moment."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["collection_paused"]


@contextmanager
def collection_paused() -> Iterator[None]:
    """Make thousands of objects, none of them garbage, without the collector looking at them again and again.

    Threads may do this at the same time: whoever found the collector on turns it on again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
