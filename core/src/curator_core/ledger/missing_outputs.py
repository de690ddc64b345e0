"""Are the files that the ledger knows still there?"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from curator_core.errors import CuratorError
from curator_core.io.filesystems import open_filesystem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.ledger.ledger_file import SourceEntry

__all__ = ["missing_outputs"]


def missing_outputs(done: Mapping[str, SourceEntry]) -> dict[str, str]:
    """Return the source tasks that are done but miss an output file, each with the first one it misses.

    Every folder is listed once; one that cannot be listed is taken to be as it was.
    """
    there: dict[str, frozenset[str] | None] = {}
    missing: dict[str, str] = {}
    for source, entry in done.items():
        for path in (file["path"] for output in entry.outputs for file in output.get("files", ())):
            folder, name = posixpath.split(path)
            if folder not in there:
                there[folder] = _names_in(folder)
            names = there[folder]
            if names is not None and name not in names:
                missing.setdefault(source, path)
    return missing


def _names_in(folder: str) -> frozenset[str] | None:
    try:
        filesystem, inner = open_filesystem(folder or ".")
        filesystem.invalidate_cache(inner)
        return frozenset(posixpath.basename(str(each)) for each in filesystem.ls(inner, detail=False))
    except FileNotFoundError:
        return frozenset()
    except (OSError, CuratorError):
        return None
