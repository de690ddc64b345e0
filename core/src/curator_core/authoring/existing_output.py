"""Files that other runs have left in an output folder: whoever reads the folder would read them too."""

from __future__ import annotations

import posixpath
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Literal, get_args

from curator_core.authoring.file_writer import FileWriter
from curator_core.files.filesystems import names_in, open_filesystem
from curator_core.files.local_files import is_hidden
from curator_core.files.parts import PART_PREFIX, is_part_of
from curator_core.values.errors import ConfigError, OutputError
from curator_core.values.source_ids import DigestSet, digest_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from curator_core.plan.plan import Plan

__all__ = ["Existing", "check_existing", "check_nothing_exists", "existing_warnings"]

Existing = Literal["warn", "keep", "replace", "error"]
"""What happens to files of other runs in the output folder: see :meth:`curator_core.Pipeline.run`."""
_SHOWN = 3


def check_existing(existing: str) -> None:
    """Refuse what is none of the choices."""
    choices = get_args(Existing)
    if existing not in choices:
        raise ConfigError(f"existing must be one of {', '.join(choices)}, got {existing!r}")


def check_nothing_exists(plan: Plan, *, sources: Container[str] = ()) -> None:
    """Refuse to write into a folder with files of other runs; those of ``sources``, which it has begun, are its own."""
    for planned in plan.stages:
        if isinstance(planned.stage, FileWriter):
            foreign = _told(planned.stage.path, _foreign_names(planned.stage, DigestSet(), sources))
            if foreign:
                raise ConfigError(
                    f"stage {planned.stage.name!r}: {foreign}",
                    fix="write to an empty folder, remove them, or choose --existing replace or keep",
                )


def existing_warnings(
    plan: Plan, outputs: Iterable[str], existing: Existing, *, sources: Container[str] = ()
) -> list[str]:
    """Return what to tell of files of other runs when a run has ended, which are removed if they are to be replaced.

    Files of ``sources``, which a resumed run has begun, are its own: retries of their rows may have written them.

    Raises:
        OutputError: A file cannot be removed.
    """
    writer = plan.stages[-1].stage
    if existing == "keep" or not isinstance(writer, FileWriter):
        return []
    written = DigestSet()
    for path in outputs:
        written.add(digest_of(posixpath.basename(path)))
    names, parts = _foreign_names(writer, written, sources), []
    try:
        if existing == "replace":
            found = list(names)
            parts = [name for name in found if name.startswith(PART_PREFIX)]
            names = (name for name in found if not name.startswith(PART_PREFIX))
        others = _told(writer.path, names)
    except OSError as error:
        return [f"{writer.path!r} cannot be searched for files of other runs: {error}"]
    notes = []
    if parts:
        _remove(writer.path, parts)
        were = "was" if len(parts) == 1 else "were"
        notes.append(f"{_files(len(parts))} of other runs {were} removed from {writer.path!r}")
    if others:
        notes.append(
            f"{others}: whoever reads the folder reads both; write to a folder of its own, remove them, "
            "or choose what happens to them with --existing (existing=… in Python)"
        )
    return notes


def _foreign_names(writer: FileWriter, written: DigestSet, sources: Container[str]) -> Iterator[str]:
    """Yield the names of files in a writer's folder, of its kind, that are neither written nor of these sources."""
    extensions = writer.output_extensions()
    with suppress(FileNotFoundError, NotADirectoryError):
        for name in names_in(writer.path):
            is_data = name.lower().endswith(extensions) if extensions else name.startswith(PART_PREFIX)
            if is_data and not is_hidden(name) and digest_of(name) not in written and not is_part_of(name, sources):
                yield name


def _told(folder: str, names: Iterator[str]) -> str:
    """Return how many files there are, and the first of them; nothing where there are none."""
    shown = list(islice(names, _SHOWN))
    count = len(shown) + sum(1 for _ in names)
    examples = ", ".join(map(repr, shown))
    return f"{folder!r} holds {_files(count)} that this run did not write, such as {examples}" if shown else ""


def _remove(folder: str, names: Iterable[str]) -> None:
    filesystem, inner = open_filesystem(folder)
    try:
        for name in names:
            with suppress(FileNotFoundError):  # by somebody else
                filesystem.rm_file(posixpath.join(inner, name))
    except OSError as error:
        raise OutputError(
            f"cannot remove files of other runs from {folder!r}: {error.strerror or error}",
            fix="check your permissions, or remove them yourself",
        ) from error


def _files(count: int) -> str:
    return f"{count:,} file{'' if count == 1 else 's'}"
