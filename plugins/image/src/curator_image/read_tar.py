"""Read images from tar archives as rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from curator_image.batch import ImageBatch
from curator_image.read_folder import ReadFolder
from curator_table import TarReader

__all__ = ["ReadTar"]


@dataclass
class ReadTar(TarReader):
    """Read tar archives of images (WebDataset shards), a sample a row, without extracting anything.

    A row has the sample's ``key``, the image as ``bytes``, untouched, with its ``extension``; the text beside it as
    ``caption``, the keys of its ``json`` as columns, its ``cls`` as a number, other members as binary columns. A
    damaged archive gives its readable part, and a record of the rest.

    >>> [stage.name for stage in ReadTar("shards").decompose()]
    ['image.read_tar.files', 'image.read_tar']
    """

    text_column: str = field(default="caption", kw_only=True)

    name = "image.read_tar"
    noun: ClassVar[str] = "image"
    media: ClassVar[tuple[str, ...]] = tuple(extension.lstrip(".") for extension in ReadFolder.usual_extensions)
    batch_type = ImageBatch
