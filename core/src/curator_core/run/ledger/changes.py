"""Compare the current input with that of an earlier run: source tasks that are changed, gone or grouped differently."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.run.ledger.descriptions import content_hash, describe_files
from curator_core.run.ledger.known_sources import KnownSources
from curator_core.run.source_order import SourceOrder, sorted_numbers
from curator_core.values.source_ids import DigestSet, SourceIds, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from curator_core.authoring.tasks import Task
    from curator_core.run.ledger.ledger_file import LedgerContent

__all__ = ["CurrentSources", "InputChanges", "compare_sources"]

_SHOWN = 20
_UNKNOWN = -1


class CurrentSources:
    """The source tasks of today: their ids, contents and order, in a few bytes each.

    Args:
        listing: Yields the source tasks with their ids, each time it is called.
    """

    def __init__(self, listing: Callable[[], Iterator[Task[Any]]]) -> None:
        self.known = KnownSources()
        self.order = SourceOrder()
        self._listing = listing
        for task in listing():
            self.known.put(task.task_id, content_hash(task))
            self.order.add(task.task_id)

    def files(self) -> _Files:
        """List the files again, with their sizes and versions."""
        return _Files(each for task in self._listing() for each in describe_files(task) or ())


@dataclass
class InputChanges:
    """How the source tasks of a ledger relate to those there are now.

    Args:
        conflicts: The first things that changed under work that is done, a line for each.
        conflict_count: How many there are in all.
        stale: Source tasks of the ledger that are none any more, done or not.
        new: How many source tasks the ledger does not know.
    """

    conflicts: list[str] = field(default_factory=list)
    conflict_count: int = 0
    stale: SourceIds = field(default_factory=SourceIds)
    new: int = 0


def compare_sources(content: LedgerContent, now: CurrentSources) -> InputChanges:
    """Compare the source tasks of a ledger with those of today.

    Ids of tasks without files are positions, so their content is compared too. A source task whose files are all as
    they were, but are grouped with others now, is stale and conflicts with nothing.
    """
    begun = content.begun
    changes = InputChanges()
    for source in begun:
        if source not in now.known or begun.content(source) != now.known.content(source):
            changes.stale.add(source)
    changes.new = sum(source not in begun for source in now.known if source)
    if changes.stale:
        counted = DigestSet()
        for line in _conflicts(content, changes.stale, now):
            if counted.add(digest_of(line)) and len(changes.conflicts) < _SHOWN:
                changes.conflicts.append(line)
        changes.conflict_count = len(counted)
    return changes


def _conflicts(content: LedgerContent, stale: SourceIds, now: CurrentSources) -> Iterator[str]:
    """Yield a line for each change to the input of source tasks that are done."""
    affected = SourceIds(source for source in stale if source in content.done)
    files_now: _Files | None = None
    for source, files in content.begun_files(affected):
        if source in now.known:
            yield f"initial task {source} is another one"
        elif files is None:
            yield f"initial task {source} is gone"
        else:
            if files_now is None:
                files_now = now.files()
            for before in files:
                yield from files_now.what_changed(before)


class _Files:
    """Sizes and versions of files, by path, in 32 bytes a file."""

    def __init__(self, files: Iterable[Mapping[str, Any]]) -> None:
        paths = array("Q")
        self._sizes, self._versions = array("q"), array("Q")
        for each in files:
            paths.append(digest_of(each["path"]))
            self._sizes.append(each.get("file_bytes", _UNKNOWN))
            self._versions.append(digest_of(_version(each)))
        self._paths, self._numbers = sorted_numbers(paths)

    def _find(self, path: str) -> int | None:
        index = bisect_left(self._paths, digest_of(path))
        is_there = index < len(self._paths) and self._paths[index] == digest_of(path)
        return self._numbers[index] if is_there else None

    def what_changed(self, before: Mapping[str, Any]) -> Iterator[str]:
        number = self._find(before["path"])
        if number is None:
            yield f"{before['path']} is gone"
            return
        old, new = before.get("file_bytes", _UNKNOWN), self._sizes[number]
        if old != new:
            yield f"{before['path']} has changed: {_shown(old)} → {_shown(new)} bytes"
        elif digest_of(_version(before)) != self._versions[number]:
            yield f"{before['path']} has changed: modified since, {_shown(new)} bytes as before"


def _version(file: Mapping[str, Any]) -> str:
    return str(file.get("version", ""))


def _shown(size: int) -> str:
    return "?" if size == _UNKNOWN else f"{size:,}"
