"""Read manifests of speech corpora: JSON lines that name audio files and give their transcripts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_audio.batch import AudioBatch
from curator_audio.manifest_rows import ManifestRows
from curator_core.sdk import DEFAULT_BLOCK_BYTES, CompositeStage, EmptyTask, Limits, TableBatch, check_allowed_locations
from curator_table import ReadJsonl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import Columns, ProcessingStage

__all__ = ["ReadManifest"]


@dataclass
class ReadManifest(CompositeStage[EmptyTask, TableBatch]):
    """Make a row of every line of a manifest in the style of NeMo.

    A line has ``audio_filepath`` and may have ``duration``, ``offset``, ``text`` and more. Paths are relative to
    the manifest, absolute, or URLs; files must lie in the folder of the manifest, or have its host or bucket, unless
    ``allowed_locations`` names their place. A line with an ``offset`` is the part of its file that
    begins there and lasts ``duration`` seconds, or to the end; one without is the whole file, whatever ``duration``
    says. The rows have ``uri``, ``offset_s``, ``duration_s``, ``sample_rate``, ``channels`` and ``format`` in place of
    the columns that were read, and all others as they are. A line whose file is missing or is not audio, or whose part
    is not inside its file, is quarantined with the manifest and the line's byte offset.

    >>> [stage.name for stage in ReadManifest("train.jsonl").decompose()]
    ['audio.read_manifest.files', 'audio.read_manifest.lines', 'audio.read_manifest']

    Args:
        paths: Manifests: files, folders, globs or URLs.
        with_bytes: Add the sound in the column ``bytes``: the content of whole files untouched, parts cut out as FLAC.
            Without it, later stages open the files (``bytes_column: null``).
        path_column: Key of the path in the manifest.
        duration_column: Key of the duration.
        offset_column: Key of the offset.
        block_bytes: Bytes of manifest in a unit of work.
        batch_bytes: Bytes of content in a table.
        max_file_bytes: With ``with_bytes``, a larger file is quarantined.
        limit_files: Read only this number of manifests, the first ones.
        follow_links: Follow links that lead out of their folder; otherwise such files are quarantined.
        allowed_locations: Folders or URL prefixes whose files lines may name, beside the place of the manifest:
            ``/corpus``, ``s3://bucket/prefix``, ``https://host/``. Later stages that open the files need it, too.
    """

    paths: str | list[str]
    with_bytes: bool = field(default=False, kw_only=True)
    path_column: str = field(default="audio_filepath", kw_only=True)
    duration_column: str = field(default="duration", kw_only=True)
    offset_column: str = field(default="offset", kw_only=True)
    block_bytes: int = field(default=2**17, kw_only=True)
    batch_bytes: int = field(default=DEFAULT_BLOCK_BYTES, kw_only=True)
    max_file_bytes: int = field(default=Limits().max_file_bytes, kw_only=True)
    limit_files: int | None = field(default=None, kw_only=True)
    follow_links: bool = field(default=False, kw_only=True)
    allowed_locations: list[str] | None = field(default=None, kw_only=True)

    name = "audio.read_manifest"

    def __post_init__(self) -> None:
        check_allowed_locations(self.name, self.allowed_locations)

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        """Return the stages that list the manifests, read their lines, and find the files."""
        files, lines = self._lines().decompose()
        return [files, lines.with_(name=f"{self.name}.lines"), self._rows().with_(name=self.name)]

    def outputs(self) -> Columns:
        return self._rows().outputs()

    def preflight(self) -> Sequence[str] | None:
        """Check that there are manifests, and find their columns."""
        columns = self._lines().preflight()
        return None if columns is None else sorted(self._rows().columns_after(frozenset(columns)))

    def _rows(self) -> ManifestRows:
        return ManifestRows(**self.values_for(ManifestRows))

    def _lines(self) -> ReadJsonl:
        lines = ReadJsonl(
            self.paths, block_bytes=self.block_bytes, limit_files=self.limit_files, follow_links=self.follow_links
        )
        lines.batch_type = AudioBatch
        return lines.with_(name=self.name)
