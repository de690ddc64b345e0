"""Parts: the output files of tasks, named after them, so that the files of a source task are found again."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.files.atomic import sync_folder, torn_name
from curator_core.files.filesystems import is_local, names_in, open_filesystem
from curator_core.values.source_ids import SourceIds

if TYPE_CHECKING:
    from collections.abc import Collection, Container

__all__ = ["PART_PREFIX", "is_part_of", "part_name", "remove_parts"]

PART_PREFIX = "part-"
"""What the names of all parts begin with."""
_BELOW = re.compile(r"[0-9]+|q[0-9a-f]+")
"""What the id of a task adds to that of its source, at each level: the number of a child, or a retried record."""


def part_name(task_id: str, extension: str = "") -> str:
    """Return the name of the part that a task is written to; several of one task differ in their extensions.

    >>> part_name("3f2a/0/2", ".parquet")
    'part-3f2a-0-2.parquet'
    """
    return f"{PART_PREFIX}{task_id.replace('/', '-')}{extension}"


def is_part_of(name: str, sources: Container[str]) -> bool:
    """Return whether a file is a part of a source task, whose ids are given without slashes, or of a descendant.

    >>> is_part_of("part-3f2a-0-2.jsonl.gz", {"3f2a"}), is_part_of("part-3f2a.csv", {"3f"})
    (True, False)
    >>> is_part_of("part-3f2a-0-q1b05.jsonl", {"3f2a"})
    True
    """
    stem = name.partition(".")[0]
    while not stem.startswith(PART_PREFIX) or stem[len(PART_PREFIX) :] not in sources:
        stem, dash, last = stem.rpartition("-")
        if not dash or not _BELOW.fullmatch(last):
            return False
    return True


def remove_parts(folder: str, sources: Collection[str], *, only_torn: bool = False) -> list[str]:
    """Remove the parts of source tasks and of their descendants, with what is left of torn writes.

    Nothing else in the folder is touched, so that several runs may share it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part-3f2a-0.jsonl", "part-77b1-0.jsonl"):
    ...         Path(folder, name).touch()
    ...     [Path(path).name for path in remove_parts(folder, {"3f2a"})]
    ['part-3f2a-0.jsonl']

    Args:
        folder: Output folder or URL; one that is not there has nothing to remove.
        sources: Ids of the source tasks, or of retried rows.
        only_torn: Remove only temporary files that a killed process has left.

    Returns:
        The paths removed.
    """
    if not isinstance(sources, SourceIds):  # those have no slashes, and may be too many to copy
        sources = {source.replace("/", "-") for source in sources if source}
    if not sources:
        return []
    filesystem, inner = open_filesystem(folder)
    removed = []
    try:
        for name in names_in(folder):
            torn = torn_name(name)
            if (torn or not only_torn) and is_part_of(torn or name, sources):
                removed.append(posixpath.join(inner, name))
    except (FileNotFoundError, NotADirectoryError):
        return []
    for path in removed:
        with suppress(FileNotFoundError):  # by a process that has only just died
            filesystem.rm_file(path)
    if removed and is_local(filesystem):
        sync_folder(Path(inner))
    return removed
