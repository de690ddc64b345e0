"""Read images from tar archives as rows, and write them to tar archives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from curator_core.sdk import FileReader, FileWriter, Limits
from curator_image.batch import ImageBatch
from curator_image.read_folder import ReadFolder
from curator_table import SAMPLE_COLUMNS, TarLimits, TarSamples, check_members, sample_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.sdk import Columns, TableBatch

__all__ = ["ReadTar", "WriteTar"]

_SAMPLES = TarSamples("image", media=tuple(extension.lstrip(".") for extension in ReadFolder.usual_extensions))


@dataclass
class ReadTar(FileReader):
    """Read tar archives of images (WebDataset shards), a sample a row, without extracting anything.

    A row has the sample's ``key``, the image as ``bytes``, untouched, with its ``extension``; the text beside it as
    ``caption``, the keys of its ``json`` as columns, its ``cls`` as a number, other members as binary columns. An
    archive that is damaged gives what can be read, and a record of the rest.

    >>> [stage.name for stage in ReadTar("shards").decompose()]
    ['image.read_tar.files', 'image.read_tar']

    Args:
        paths: Archives, folders, globs or URLs; ``.tar``, also compressed (``.gz``, ``.zst``, ``.bz2``, ``.xz``).
        text_column: Column for ``txt`` members.
        max_member_bytes: A larger member is quarantined.
        max_members: Most members of one archive.
        max_expansion: Decompressed bytes allowed per byte of a compressed archive, against decompression bombs.
        verify: Check compressed archives to their end before the first row comes out (see :class:`Decompressor`).
    """

    text_column: str = field(default="caption", kw_only=True)
    max_member_bytes: int = field(default=TarLimits().max_member_bytes, kw_only=True)
    max_members: int = field(default=TarLimits().max_members, kw_only=True)
    max_expansion: int = field(default=Limits().max_expansion, kw_only=True)
    verify: bool = field(default=True, kw_only=True)

    name = "image.read_tar"
    table_format = _SAMPLES
    batch_type = ImageBatch

    def outputs(self) -> Columns:
        return SAMPLE_COLUMNS


@dataclass
class WriteTar(FileWriter):
    """Write every batch to a tar archive (a WebDataset shard) named after its task, the images byte for byte as read.

    A row becomes ``KEY.jpg`` (with its own extension), ``KEY.txt`` of its caption, ``KEY.cls`` of its class, further
    binary columns under their own names, and ``KEY.json`` with the other columns. The same rows give the same archive.
    A row whose key cannot be the name of a member, or is that of a row before it, is quarantined.

    >>> WriteTar("out").file_name("3f2a/0")
    'part-3f2a-0.tar'

    Args:
        key_column: Column with the keys. Where there is none, the paths in ``uri`` below the folder of ``_source``; of
            a file elsewhere its base name and eight digits.
        bytes_column: Column with the images.
        extension_column: Column with their extensions; where there is none, that of ``uri``, else ``jpg``.
        text_column: Column that becomes the ``txt`` member, where there is one.
        members: Columns that become members, with their extensions, in place of the choice above: text, binary, or
            numbers as text.
        json_columns: Columns for the ``json`` member, null ones left out; all others that hold no binary, where None.
        max_file_bytes: Begin another archive when one has grown to this size.
        compression: Compress archives. Images hardly shrink.
    """

    key_column: str = field(default="key", kw_only=True)
    bytes_column: str = field(default="bytes", kw_only=True)
    extension_column: str = field(default="extension", kw_only=True)
    text_column: str = field(default="caption", kw_only=True)
    members: dict[str, str] | None = field(default=None, kw_only=True)
    json_columns: list[str] | None = field(default=None, kw_only=True)
    max_file_bytes: int | None = field(default=None, kw_only=True)
    compression: Literal["gz", "zst"] | None = field(default=None, kw_only=True)

    name = "image.write_tar"
    table_format = _SAMPLES

    def __post_init__(self) -> None:
        super().__post_init__()
        check_members(self.name, self.members)

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def parts(self, task: TableBatch) -> Iterator[Any]:
        return sample_parts(self, task, default_extension="jpg")
