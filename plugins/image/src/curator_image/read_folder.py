"""Read image files as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from curator_core.sdk import FolderReader
from curator_image.batch import ImageBatch

__all__ = ["ReadFolder"]


@dataclass
class ReadFolder(FolderReader):
    """Read image files, one a row: ``uri``, ``key``, ``bytes`` (the file untouched), ``size_bytes``.

    The key is the file's path below the given folder, without its extension: what ``image.write_tar``
    calls it, wherever that folder is. Files that would share one get eight more digits each.

    >>> [stage.name for stage in ReadFolder("photos").decompose()]
    ['image.read_folder.files', 'image.read_folder']

    Args:
        paths: Files, folders, globs or URLs. In folders, files with the extension of a common image format are taken.
    """

    name = "image.read_folder"
    usual_extensions: ClassVar[tuple[str, ...]] = (
        ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".jp2",
        ".heic", ".heif", ".hif",
    )  # fmt: skip
    batch_type = ImageBatch
