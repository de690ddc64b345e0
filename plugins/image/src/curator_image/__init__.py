"""Curate images: read them, look at their headers, filter them.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_image.batch import ImageBatch
    from curator_image.probe import Probe
    from curator_image.read_folder import ReadFolder
    from curator_image.size_filter import SizeFilter

__version__ = "0.1.0"

_HOME = {
    "ImageBatch": "batch",
    "Probe": "probe",
    "ReadFolder": "read_folder",
    "SizeFilter": "size_filter",
}

__all__ = ["ImageBatch", "Probe", "ReadFolder", "SizeFilter"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
