"""Curate images: read them, look at them, filter them, hash and embed them, write them untouched.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_image.aspect_filter import AspectFilter
    from curator_image.batch import ImageBatch
    from curator_image.embed import Embed
    from curator_image.nsfw import Nsfw
    from curator_image.phash import Phash
    from curator_image.probe import Probe
    from curator_image.quality_filter import QualityFilter
    from curator_image.read_folder import ReadFolder
    from curator_image.read_tar import ReadTar
    from curator_image.size_filter import SizeFilter
    from curator_image.tables import ReadParquet, WriteParquet
    from curator_image.write_tar import WriteTar

__version__ = "0.1.0"

_HOME = {
    "AspectFilter": "aspect_filter",
    "Embed": "embed",
    "ImageBatch": "batch",
    "Nsfw": "nsfw",
    "Phash": "phash",
    "Probe": "probe",
    "QualityFilter": "quality_filter",
    "ReadFolder": "read_folder",
    "ReadParquet": "tables",
    "ReadTar": "read_tar",
    "SizeFilter": "size_filter",
    "WriteParquet": "tables",
    "WriteTar": "write_tar",
}

__all__ = [
    "AspectFilter",
    "Embed",
    "ImageBatch",
    "Nsfw",
    "Phash",
    "Probe",
    "QualityFilter",
    "ReadFolder",
    "ReadParquet",
    "ReadTar",
    "SizeFilter",
    "WriteParquet",
    "WriteTar",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
