"""Curate images: read them, look at them, filter them, hash and embed them, write them untouched.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.sdk import lazy_names

if TYPE_CHECKING:
    from curator_image.batch import ImageBatch
    from curator_image.embed import Embed
    from curator_image.image_encoder import ImageEncoder
    from curator_image.nsfw import Nsfw
    from curator_image.phash import Phash
    from curator_image.probe import Probe
    from curator_image.quality_filter import QualityFilter
    from curator_image.read_folder import ReadFolder
    from curator_image.size_filters import AspectFilter, SizeFilter
    from curator_image.tar import ReadTar, WriteTar

__version__ = "0.1.0"

_HOMES = {
    "batch": ("ImageBatch",),
    "embed": ("Embed",),
    "image_encoder": ("ImageEncoder",),
    "nsfw": ("Nsfw",),
    "phash": ("Phash",),
    "probe": ("Probe",),
    "quality_filter": ("QualityFilter",),
    "read_folder": ("ReadFolder",),
    "size_filters": ("AspectFilter", "SizeFilter"),
    "tar": ("ReadTar", "WriteTar"),
}

__all__ = [
    "AspectFilter",
    "Embed",
    "ImageBatch",
    "ImageEncoder",
    "Nsfw",
    "Phash",
    "Probe",
    "QualityFilter",
    "ReadFolder",
    "ReadTar",
    "SizeFilter",
    "WriteTar",
]

__getattr__, __dir__, _ = lazy_names(__name__, _HOMES)
