"""What has become of the input since a run began: source tasks that are the same, changed, gone or cut differently."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.ledger.descriptions import content_hash, describe_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curator_core.tasks import Task

__all__ = ["InputChanges", "compare_sources"]


@dataclass
class InputChanges:
    """How the source tasks of a ledger relate to those there are now.

    Args:
        conflicts: What changed under work that is done, a line for each thing.
        stale: Source tasks of the ledger that are none any more, done or not.
        regrouped: Those of them whose files are as they were, but are grouped with others now.
        new: How many source tasks the ledger does not know.
    """

    conflicts: list[str] = field(default_factory=list)
    stale: set[str] = field(default_factory=set)
    regrouped: set[str] = field(default_factory=set)
    new: int = 0


def compare_sources(
    begun: Mapping[str, Mapping[str, Any]], done: Iterable[str], sources: Iterable[Task[Any]]
) -> InputChanges:
    """Compare the source tasks of a ledger with those of today.

    Args:
        begun: Source tasks that were begun, with what the ledger says about them.
        done: Those that are done.
        sources: The source tasks of today, with their ids.
    """
    changes = InputChanges()
    now = {task.task_id: task for task in sources}
    files_now = {each["path"]: each for task in now.values() for each in describe_files(task) or ()}
    finished = set(done)
    conflicts: dict[str, None] = {}
    for source, known in begun.items():
        if source in now and not _is_other(known, now[source]):
            continue
        changes.stale.add(source)
        lines = _what_changed(source, known, now, files_now)
        if not lines:
            changes.regrouped.add(source)
        elif source in finished:
            conflicts.update(dict.fromkeys(lines))
    changes.conflicts = list(conflicts)
    changes.new = sum(source not in begun for source in now if source)
    return changes


def _is_other(known: Mapping[str, Any], task: Task[Any]) -> bool:
    """Return whether a task that has the id of another is not the same: ids of tasks without files are positions."""
    return known.get("content") != content_hash(task)


def _what_changed(
    source: str, known: Mapping[str, Any], now: Mapping[str, Task[Any]], files_now: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    if source in now:
        return [f"initial task {source} is another one"]
    if "files" not in known:
        return [f"initial task {source} is gone"]
    lines = []
    for before in known["files"]:
        after = files_now.get(before["path"])
        if after is None:
            lines.append(f"{before['path']} is gone")
        elif before.get("file_bytes") != after.get("file_bytes"):
            lines.append(f"{before['path']} has changed: {_size(before)} → {_size(after)} bytes")
        elif before.get("version") != after.get("version"):
            lines.append(f"{before['path']} has changed: modified since, {_size(after)} bytes as before")
    return lines


def _size(file: Mapping[str, Any]) -> str:
    size = file.get("file_bytes")
    return "?" if size is None else f"{size:,}"
