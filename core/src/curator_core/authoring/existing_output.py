"""Files that other runs have left in an output folder: whoever reads the folder would read them too."""

from __future__ import annotations

import posixpath
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from curator_core.authoring.file_writer import FileWriter
from curator_core.files.filesystems import names_in, open_filesystem
from curator_core.files.local_files import is_hidden
from curator_core.files.parts import PART_PREFIX, is_part_of
from curator_core.values.errors import ConfigError, OutputError
from curator_core.values.source_ids import DigestSet, digest_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from curator_core.plan.plan import Plan

__all__ = ["Existing", "check_existing", "check_nothing_exists", "existing_warnings"]

Existing = Literal["warn", "keep", "replace", "error"]
"""What happens to files of other runs in the output folder: see :meth:`curator_core.Pipeline.run`."""
_CHOICES = ("warn", "keep", "replace", "error")
_SHOWN = 3


@dataclass
class _Foreign:
    """Files that a run did not write.

    Args:
        folder: The output folder.
        count: How many there are, without the parts.
        examples: The first of them.
        parts: Those that are called as a writer calls its files, where they are to be removed.
    """

    folder: str
    count: int = 0
    examples: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.examples))
        return f"{self.folder!r} holds {_files(self.count)} that this run did not write, such as {shown}"


def check_existing(existing: str) -> None:
    """Check the choice.

    Raises:
        ConfigError: There is no such choice.
    """
    if existing not in _CHOICES:
        raise ConfigError(f"existing must be one of {', '.join(_CHOICES)}, got {existing!r}")


def check_nothing_exists(plan: Plan, *, sources: Container[str] = ()) -> None:
    """Refuse to write into a folder that holds files of other runs.

    Args:
        plan: What is going to run.
        sources: Source tasks that the run which is resumed has begun: their files are its own.

    Raises:
        ConfigError: There are such files.
    """
    for planned in plan.stages:
        if isinstance(planned.stage, FileWriter):
            foreign = _foreign_files(planned.stage, DigestSet(), sources)
            if foreign.count:
                raise ConfigError(
                    f"stage {planned.stage.name!r}: {foreign}",
                    fix="write to an empty folder, remove them, or choose --existing replace or keep",
                )


def existing_warnings(
    plan: Plan, outputs: Iterable[str], existing: Existing, *, sources: Container[str] = ()
) -> list[str]:
    """Look for files of other runs when a run has ended, and remove them where they are to be replaced.

    Args:
        plan: What was run.
        outputs: Files that it wrote.
        existing: What to do about others.
        sources: Source tasks that a resumed run has begun: what retries of their rows wrote is no other run's.

    Returns:
        What to tell the user.

    Raises:
        OutputError: A file cannot be removed.
    """
    writer = plan.stages[-1].stage
    if existing == "keep" or not isinstance(writer, FileWriter):
        return []
    written = DigestSet()
    for path in outputs:
        written.add(digest_of(posixpath.basename(path)))
    try:
        foreign = _foreign_files(writer, written, sources, takes_parts=existing == "replace")
    except OSError as error:
        return [f"{writer.path!r} cannot be searched for files of other runs: {error}"]
    notes = []
    if foreign.parts:
        _remove(writer.path, foreign.parts)
        count = len(foreign.parts)
        notes.append(f"{_files(count)} of other runs {'was' if count == 1 else 'were'} removed from {writer.path!r}")
    if foreign.count:
        notes.append(
            f"{foreign}: whoever reads the folder reads both; write to a folder of its own, remove them, "
            "or choose what happens to them with --existing (existing=… in Python)"
        )
    return notes


def _foreign_files(
    writer: FileWriter, written: DigestSet, sources: Container[str], *, takes_parts: bool = False
) -> _Foreign:
    """List the output folder, once, and leave out what is the run's own.

    Args:
        writer: Whose folder, and whose kind of files.
        written: Digests of the names of files that the run has written.
        sources: Source tasks whose files are the run's own.
        takes_parts: Collect the names of files that a writer may have made, instead of counting them.
    """
    foreign = _Foreign(writer.path)
    extensions = writer.output_extensions()
    try:
        for name in names_in(writer.path):
            is_part = name.startswith(PART_PREFIX)
            is_data = name.lower().endswith(extensions) if extensions else is_part
            if not is_data or is_hidden(name) or digest_of(name) in written:
                continue
            if is_part_of(name, sources):
                continue
            if is_part and takes_parts:
                foreign.parts.append(name)
                continue
            foreign.count += 1
            if len(foreign.examples) < _SHOWN:
                foreign.examples.append(name)
    except (FileNotFoundError, NotADirectoryError):
        return _Foreign(writer.path)
    return foreign


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
