"""Read recordings from tar archives as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from curator_audio.batch import AudioBatch
from curator_audio.sound.formats import EXTENSIONS
from curator_core.sdk import TableBatch
from curator_table import TarReader

__all__ = ["ReadTar"]


@dataclass
class ReadTar(TarReader):
    """Read tar archives of recordings (WebDataset shards), a sample a row, without extracting anything.

    A row has the sample's ``key``, the recording as ``bytes``, untouched, with its ``extension``; the text beside it as
    ``text``, the keys of its ``json`` as columns, other members as binary columns. An archive that is damaged gives
    what can be read, and a record of the rest. Recordings are not looked into here; the stages that decode them do.

    >>> [stage.name for stage in ReadTar("shards").decompose()]
    ['audio.read_tar.files', 'audio.read_tar']

    Args:
        paths: Archives, folders, globs or URLs; ``.tar``, also compressed (``.gz``, ``.zst``, ``.bz2``, ``.xz``).
        text_column: Column for ``txt`` members.
        block_bytes: Size of a unit of work and of a table. A larger archive on a local disk is cut between samples.
        limit_files: Take only the first so many archives.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        max_member_bytes: A larger member is quarantined.
        max_members: Most members of one archive.
        max_expansion: Decompressed bytes allowed per byte of a compressed archive, against decompression bombs.
        verify: Check compressed archives to their end before the first row comes out.
    """

    name = "audio.read_tar"
    noun: ClassVar[str] = "recording"
    media: ClassVar[tuple[str, ...]] = tuple(extension.lstrip(".") for extension in EXTENSIONS)
    batch_type: ClassVar[type[TableBatch]] = AudioBatch
