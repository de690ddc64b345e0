"""Read image files as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from curator_core.sdk import FolderReader, TableBatch
from curator_image.batch import ImageBatch

__all__ = ["ReadFolder"]


@dataclass
class ReadFolder(FolderReader):
    """Read image files, one a row: ``uri``, ``key``, ``bytes`` (the file untouched), ``size_bytes``.

    The key is the file's path below the folder that was asked for, without its extension: what ``image.write_tar``
    calls it, wherever that folder is. Files that would share one get eight more digits each.

    >>> [stage.name for stage in ReadFolder("photos").decompose()]
    ['image.read_folder.files', 'image.read_folder']

    Args:
        paths: Files, folders, globs or URLs. In folders, files with the extension of a common image format are taken.
        with_bytes: Read the content, too; without it a later stage opens the file by its uri.
        block_bytes: Bytes of files in a unit of work and in a table.
        max_file_bytes: A larger file is quarantined.
        limit_files: Take only the first so many files.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        extensions: Extensions looked for in folders, in place of the usual ones; files with others are counted.
    """

    name = "image.read_folder"
    usual_extensions: ClassVar[tuple[str, ...]] = (
        ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".jp2",
        ".heic", ".heif", ".hif",
    )  # fmt: skip
    batch_type: ClassVar[type[TableBatch]] = ImageBatch
