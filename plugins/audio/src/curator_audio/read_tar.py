"""Read recordings from tar archives as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from curator_audio.batch import AudioBatch
from curator_audio.sound.formats import EXTENSIONS
from curator_table import TarReader

__all__ = ["ReadTar"]


@dataclass
class ReadTar(TarReader):
    """Read tar archives of recordings (WebDataset shards), a sample a row, without extracting anything.

    A row has the sample's ``key``, the recording as ``bytes``, untouched, with its ``extension``; the text beside it as
    ``text``, the keys of its ``json`` as columns, other members as binary columns. An archive that is damaged gives
    its readable part, and a record of the rest. Recordings are not decoded here, but in the stages that need them.

    >>> [stage.name for stage in ReadTar("shards").decompose()]
    ['audio.read_tar.files', 'audio.read_tar']
    """

    name = "audio.read_tar"
    noun: ClassVar[str] = "recording"
    media: ClassVar[tuple[str, ...]] = tuple(extension.lstrip(".") for extension in EXTENSIONS)
    batch_type = AudioBatch
