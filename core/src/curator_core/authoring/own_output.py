"""Refuse to read what the same pipeline writes: a second run would take its own output for input."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, Any

from curator_core.authoring.file_writer import FileWriter
from curator_core.authoring.list_files import ListFiles
from curator_core.files.filesystems import is_local, open_filesystem
from curator_core.files.parts import PART_PREFIX
from curator_core.files.paths import would_list
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.authoring.stage import ProcessingStage

__all__ = ["check_own_output"]


def check_own_output(stages: Iterable[ProcessingStage[Any, Any]]) -> None:
    """Check that no stage lists files that another one writes.

    >>> from curator_core.sdk import FileWriter, ListFiles
    >>> check_own_output([ListFiles("raw"), FileWriter("clean")])

    Raises:
        ConfigError: One does.
    """
    stages = list(stages)
    readers = [stage for stage in stages if isinstance(stage, ListFiles)]
    for writer in (stage for stage in stages if isinstance(stage, FileWriter)):
        written = _full_path(writer.file_path(writer.file_name("0")))
        for reader in readers:
            for asked in [reader.paths] if isinstance(reader.paths, str) else reader.paths:
                if would_list(asked, written, extensions=reader.looked_for) or _is_a_part(asked, writer):
                    raise ConfigError(
                        f"{writer.name!r} writes to {writer.path!r}, which is part of what {reader.name!r} reads, "
                        f"{asked!r}: the next run would take its own output for input",
                        fix="write to a folder that is not inside the input, or name the input files",
                    )


def _is_a_part(asked: str, writer: FileWriter) -> bool:
    """Return whether a reader names a file of the output folder that is called as the writer's files are."""
    folder, name = posixpath.split(_full_path(asked))
    if not name.startswith(PART_PREFIX) or not name.lower().endswith(writer.output_extensions()):
        return False
    return folder == posixpath.dirname(_full_path(writer.file_path(name)))


def _full_path(path: str) -> str:
    """Return a path without links in its folders; a URL as it is."""
    filesystem, inner = open_filesystem(os.path.expanduser(path))  # noqa: PTH111 - may be a URL
    if not is_local(filesystem):
        return path
    folder, name = posixpath.split(inner)
    return posixpath.join(os.path.realpath(folder), name)
