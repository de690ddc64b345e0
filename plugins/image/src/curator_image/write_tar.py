"""Write images to tar archives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from curator_table import TarWriter

__all__ = ["WriteTar"]


@dataclass
class WriteTar(TarWriter):
    """Write every batch to a tar archive (a WebDataset shard) named after its task, the images byte for byte as read.

    A row becomes ``KEY.jpg`` (with its own extension), ``KEY.txt`` of its caption, ``KEY.cls`` of its class, further
    binary columns under their own names, and ``KEY.json`` with the other columns. The same rows give the same archive.
    A row whose key cannot be the name of a member, or is that of a row before it, is quarantined.

    >>> WriteTar("out").file_name("3f2a/0")
    'part-3f2a-0.tar'

    Args:
        bytes_column: Column with the images.
        extension_column: Column with their extensions; where there is none, that of ``uri``, else ``jpg``.
        compression: Compress archives. Images hardly shrink.
    """

    text_column: str = field(default="caption", kw_only=True)

    name = "image.write_tar"
    default_extension: ClassVar[str] = "jpg"
