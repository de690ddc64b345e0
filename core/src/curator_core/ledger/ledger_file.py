"""``ledger.jsonl``: one line per fact about a run, appended and synced; a torn last line is cut off.

- ``{"ledger": 1, "identity": {…}}``: the first line, what pipeline this is;
- ``{"begun": id, "files": […]}``: work on a source task has begun (written without waiting for the disk);
- ``{"done": id, "outputs": […], "stats": {…}}``: its outputs are all on the disk, for good;
- ``{"finished": true, …}``: the run came to its end.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.errors import LedgerError
from curator_core.faults import fault_point, is_hooked
from curator_core.io.atomic import atomic_output, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

__all__ = ["Finished", "LedgerContent", "LedgerFile", "SourceEntry", "read_ledger"]

_VERSION = 1
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True)
class SourceEntry:
    """A source task that is done.

    Args:
        outputs: Descriptions of the outputs that came of it.
        stats: Counts by stage.
    """

    outputs: list[dict[str, Any]]
    stats: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Finished:
    """How a run ended.

    Args:
        is_complete: Whether every source task and every output is in the ledger.
        stats: Counts by stage that belong to no source task.
    """

    is_complete: bool
    stats: dict[str, dict[str, Any]]


@dataclass
class LedgerContent:
    """What a ledger says.

    Args:
        identity: The pipeline it belongs to.
        begun: Source tasks that were begun, with their files or what else tells them apart.
        done: Those that are done.
        finished: How the run ended, if it did.
    """

    identity: dict[str, Any]
    begun: dict[str, dict[str, Any]] = field(default_factory=dict)
    done: dict[str, SourceEntry] = field(default_factory=dict)
    finished: Finished | None = None

    def take_in(self, fact: Mapping[str, Any]) -> None:
        """Add what a line says."""
        if "begun" in fact:
            self.begun[fact["begun"]] = {key: value for key, value in fact.items() if key != "begun"}
            self.finished = None
        elif "done" in fact:
            self.done[fact["done"]] = SourceEntry(fact["outputs"], fact["stats"])
            self.begun.setdefault(fact["done"], {})
            self.finished = None
        elif "finished" in fact:
            self.finished = Finished(fact["is_complete"], fact["stats"])

    def without(self, sources: Iterable[str]) -> LedgerContent:
        """Return the content as if these source tasks had been begun only."""
        gone = set(sources)
        done = {source: each for source, each in self.done.items() if source not in gone}
        return LedgerContent(self.identity, dict(self.begun), done)

    def facts(self) -> list[dict[str, Any]]:
        """Return the lines that say this."""
        lines: list[dict[str, Any]] = [header(self.identity)]
        lines += [{"begun": source, **each} for source, each in self.begun.items()]
        lines += [{"done": source, "outputs": each.outputs, "stats": each.stats} for source, each in self.done.items()]
        return lines


def header(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first line of a ledger."""
    return {"ledger": _VERSION, "identity": identity}


def read_ledger(path: Path) -> LedgerContent | None:
    """Read a ledger, or return None where there is none. A last line that was torn by a crash is not there yet.

    Raises:
        LedgerError: The file is damaged elsewhere, or of another version.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerError(f"cannot read the ledger {str(path)!r}: {error.strerror or error}") from error
    lines = data.split(b"\n")[:-1]  # what follows the last line break is torn, or nothing
    if not lines:
        return None
    first = _parse(path, 1, lines[0])
    if first.get("ledger") != _VERSION:
        raise LedgerError(
            f"{str(path)!r} is no ledger of this version of curator",
            fix="run without resume to start afresh, or use the version that wrote it",
        )
    content = LedgerContent(first.get("identity", {}))
    for number, line in enumerate(lines[1:], start=2):
        fact = _parse(path, number, line)
        try:
            content.take_in(fact)
        except KeyError as error:
            raise _damaged(path, number) from error
    return content


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        fact = json.loads(line)
    except ValueError as error:
        raise _damaged(path, number) from error
    if not isinstance(fact, dict):
        raise _damaged(path, number)
    return fact


def _damaged(path: Path, number: int) -> LedgerError:
    return LedgerError(
        f"the ledger {str(path)!r} is damaged in line {number}",
        fix="run without resume to start afresh; output files are replaced, not doubled",
    )


class LedgerFile:
    """A ledger that is written to.

    Args:
        path: The file.
        facts: Its first lines, which replace what is there in one step; None goes on with what is there.

    Raises:
        LedgerError: It cannot be written.
    """

    def __init__(self, path: Path, facts: Iterable[Mapping[str, Any]] | None = None) -> None:
        self._path = path
        self._is_broken = False
        try:
            if facts is not None:
                with atomic_output(str(path)) as file:
                    file.writelines(_line(fact) for fact in facts)
            else:
                _cut_torn_line(path)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise self._failed(error) from error

    def append(self, facts: Iterable[Mapping[str, Any]], *, is_durable: bool) -> None:
        """Write lines; return when they are on the disk, or at least with the operating system.

        Raises:
            LedgerError: They could not be written; the ledger stays as far as it is, and takes no more.
        """
        if self._is_broken:
            return
        data = b"".join(_line(fact) for fact in facts)
        try:
            if is_durable:
                self._commit(data)
            else:
                _write_all(self._file, data)
        except OSError as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """Close the file."""
        if not self._file.closed:
            self._file.close()

    def _commit(self, data: bytes) -> None:
        fault_point("ledger.begin")
        if is_hooked():  # a moment that only a crash in the middle of a write has otherwise
            half, data = data[: len(data) // 2], data[len(data) // 2 :]
            _write_all(self._file, half)
            fault_point("ledger.half_written")
        _write_all(self._file, data)
        fault_point("ledger.written")
        os.fsync(self._file.fileno())
        fault_point("ledger.synced")

    def _failed(self, error: OSError) -> LedgerError:
        self._is_broken = True  # half a line may be there, which only the next run can tell from a whole one
        return LedgerError(
            f"cannot write the ledger {str(self._path)!r}: {error.strerror or error}",
            fix="check free space and permissions, then continue the run with --resume",
        )


def _line(fact: Mapping[str, Any]) -> bytes:
    return _encode(fact).encode() + b"\n"


def _write_all(file: Any, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _cut_torn_line(path: Path) -> None:
    with path.open("r+b") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            file.truncate(whole)
            os.fsync(file.fileno())
    sync_folder(path.parent)
