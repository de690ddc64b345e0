"""Are the files that the ledger knows still there?"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curator_core.files.filesystems import names_in
from curator_core.values.errors import CuratorError
from curator_core.values.source_ids import DigestSet, SourceIds, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.run.ledger.ledger_file import SourceEntry

__all__ = ["MissingOutputs", "missing_outputs"]

_EXAMPLES = 1_000


@dataclass
class MissingOutputs:
    """Output files of an earlier run that are not there any more.

    Args:
        sources: The source tasks that miss a file.
        examples: The first of them, each with the first file that it misses.
        paths: Digests of the missing paths.
    """

    sources: SourceIds = field(default_factory=SourceIds)
    examples: dict[str, str] = field(default_factory=dict)
    paths: DigestSet = field(default_factory=DigestSet)

    def __contains__(self, path: str) -> bool:
        return bool(len(self.paths)) and digest_of(path) in self.paths


def missing_outputs(entries: Iterable[SourceEntry]) -> MissingOutputs:
    """Find the source tasks that miss an output file.

    Every folder is listed once, and takes 8 bytes a file; one that cannot be listed is taken to be as it was.
    """
    there: dict[str, DigestSet | None] = {}
    missing = MissingOutputs()
    for entry in entries:
        for path in (file["path"] for output in entry.outputs for file in output.get("files", ())):
            folder, name = posixpath.split(path)
            if folder not in there:
                there[folder] = _names_in(folder)
            names = there[folder]
            if names is None or digest_of(name) in names:
                continue
            missing.paths.add(digest_of(path))
            if missing.sources.add(entry.source) and len(missing.examples) < _EXAMPLES:
                missing.examples[entry.source] = path
    return missing


def _names_in(folder: str) -> DigestSet | None:
    names = DigestSet()
    try:
        for name in names_in(folder or "."):
            names.add(digest_of(name))
    except FileNotFoundError:
        return DigestSet()
    except (OSError, CuratorError):
        return None
    return names
