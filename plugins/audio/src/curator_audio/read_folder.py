"""Read audio files as rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_audio.batch import AudioBatch
from curator_audio.probe import AUDIO_COLUMNS, Probe
from curator_audio.sound.formats import EXTENSIONS
from curator_core.sdk import FolderReader, is_composite

if TYPE_CHECKING:
    from curator_core.sdk import Columns, ProcessingStage

__all__ = ["ReadFolder"]


@dataclass
class ReadFolder(FolderReader):
    """Make a row of every audio file, with its duration, sample rate, channels and format.

    The columns are ``uri``, ``key``, ``size_bytes``, ``duration_s``, ``sample_rate``, ``channels`` and ``format``. The
    key is the file's path below the given folder, without its extension, and unique. A file that is not
    audio is quarantined; the others come through.

    >>> [stage.name for stage in ReadFolder("speech").decompose()]
    ['audio.read_folder.files', 'audio.read_folder.rows', 'audio.read_folder']

    Args:
        paths: Files, folders, globs or URLs. In folders, files with the extension of a common audio format are taken.
        with_bytes: Add the content of the files in the column ``bytes``; without it a later stage opens the file.
    """

    with_bytes: bool = field(default=False, kw_only=True)

    name = "audio.read_folder"
    usual_extensions: ClassVar[tuple[str, ...]] = EXTENSIONS
    batch_type = AudioBatch

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the stages that list the files, make rows of them, and look into them."""
        files, rows = super().decompose()
        probe = Probe(bytes_column="bytes" if self.with_bytes else None)
        return [files, rows.with_(name=f"{self.name}.rows"), probe.with_(name=self.name)]

    def outputs(self) -> Columns:
        return [*super().outputs(), *(AUDIO_COLUMNS if is_composite(self) else ())]
