"""``ledger.jsonl``: one line per fact about a run, appended and synced; a torn last line is cut off.

- ``{"ledger": 1, "identity": {…}}``: the first line, the version of this format and what pipeline this is;
- ``{"begun": id, "files": […]}``: work on a source task has begun (written without waiting for the disk);
- ``{"done": id, "outputs": […], "stats": {…}}``: its outputs are all on the disk, for good;
- ``{"finished": true, …}``: the run came to its end.

The version is that of the whole run directory. A line that an older reader would misunderstand needs a new one.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from curator_core.files.atomic import atomic_output, sync_folder
from curator_core.files.faults import fault_point, is_hooked
from curator_core.run.ledger.known_sources import KnownSources
from curator_core.values.errors import LedgerError
from curator_core.values.source_ids import SourceIds

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Finished", "LedgerContent", "LedgerFile", "SourceEntry", "line_of", "read_ledger"]

_VERSION = 1
"""Format that is written, and the newest that is read. Directories of older ones are kept in tests/core/ledger."""
_BEGUN = b'{"begun":'
_DONE = b'{"done":'
_TAIL_BYTES = 1 << 16
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True)
class SourceEntry:
    """A source task that is done.

    Args:
        source: Its id.
        outputs: Descriptions of the outputs that came of it.
        stats: Counts by stage.
    """

    source: str
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
    """The content of a ledger: which source tasks are begun and done, in a few bytes each.

    All else (files, outputs, counts) is read from the file again when it is needed, an entry at a time.

    Args:
        path: The file.
        identity: The pipeline it belongs to.
        begun: Source tasks that were begun.
        done: Those that are done.
        finished: How the run ended, if it did.
        superseded: How many lines about a source task are followed by another that counts instead.
    """

    path: Path
    identity: dict[str, Any]
    begun: KnownSources = field(default_factory=KnownSources)
    done: SourceIds = field(default_factory=SourceIds)
    finished: Finished | None = None
    superseded: Counter[str] = field(default_factory=Counter)

    def take_in(self, fact: Mapping[str, Any]) -> None:
        """Add the fact of one line."""
        if "begun" in fact:
            self.begun.put(fact["begun"], fact.get("content"))
            self.finished = None
        elif "done" in fact:
            source, _, _ = fact["done"], fact["outputs"], fact["stats"]
            if not self.done.add(source):
                self.superseded[source] += 1
            if source not in self.begun:
                self.begun.put(source, None)
            self.finished = None
        elif "finished" in fact:
            self.finished = Finished(fact["is_complete"], fact["stats"])

    def entries(self) -> Iterator[SourceEntry]:
        """Read the source tasks that are done, one at a time."""
        for _, fact in self._done_lines():
            yield SourceEntry(fact["done"], fact["outputs"], fact["stats"])

    def begun_files(self, sources: Container[str]) -> Iterator[tuple[str, list[dict[str, Any]] | None]]:
        """Read the files of source tasks that were begun, or None for those without files."""
        for line in _whole_lines(self.path):
            fact = json.loads(line) if _may_say_begun(line) else {}
            if fact.get("begun") in sources:
                yield fact["begun"], fact.get("files")

    def without(self, sources: Container[str]) -> LedgerContent:
        """Return the content as if these source tasks had been begun only."""
        done = SourceIds(source for source in self.done if source not in sources)
        return replace(self, done=done, finished=None)

    def lines(self) -> Iterator[bytes]:
        """Read the lines that say this, for a ledger that replaces the file."""
        yield line_of(header(self.identity))
        for line in _whole_lines(self.path):
            if _may_say_begun(line) and "begun" in json.loads(line):
                yield line
        for line, _ in self._done_lines():
            yield line

    def _done_lines(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        superseded = Counter(self.superseded)
        for line in _whole_lines(self.path):
            if line.startswith(_BEGUN):
                continue
            fact = json.loads(line)
            source = fact.get("done")
            if source is None or source not in self.done:
                continue
            if superseded[source]:
                superseded[source] -= 1
                continue
            yield line, fact


def _may_say_begun(line: bytes) -> bool:
    """Rule out most lines without parsing them: this version writes the kind of a fact first."""
    return not line.startswith(_DONE)


def header(identity: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first line of a ledger."""
    return {"ledger": _VERSION, "identity": identity}


def read_ledger(path: Path) -> LedgerContent | None:
    """Read a ledger, or return None where there is none. A last line that was torn by a crash is not there yet.

    Raises:
        LedgerError: The file is damaged elsewhere, or of another version.
    """
    try:
        content: LedgerContent | None = None
        for number, line in enumerate(_whole_lines(path), start=1):
            fact = _parse(path, number, line)
            if content is None:
                _check_version(path, fact.get("ledger"))
                content = LedgerContent(path, fact.get("identity", {}))
                continue
            try:
                content.take_in(fact)
            except KeyError as error:
                raise _damaged(path, number) from error
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LedgerError(f"cannot read the ledger {str(path)!r}: {error.strerror or error}") from error
    return content


def _whole_lines(path: Path) -> Iterator[bytes]:
    """Yield complete lines with their line breaks; a torn last line is left out."""
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def _check_version(path: Path, version: Any) -> None:
    if version == _VERSION and version is not True:
        return
    if type(version) is int and version > _VERSION:
        raise LedgerError(
            f"the ledger {str(path)!r} has format {version}, which a newer version of curator wrote; "
            f"this one reads format {_VERSION}",
            fix="resume with the version that wrote it (pip install --upgrade curator-core), "
            "or run without resume to start afresh",
        )
    raise LedgerError(
        f"{str(path)!r} is not a ledger: its first line does not say which format it has",
        fix="check the run directory, or run without resume to start afresh",
    )


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
        lines: Its first lines, which replace what is there in one step; None keeps what is there.

    Raises:
        LedgerError: It cannot be written.
    """

    def __init__(self, path: Path, lines: Iterable[bytes] | None = None) -> None:
        self._path = path
        self._is_broken = False
        try:
            if lines is not None:
                with atomic_output(str(path)) as file:
                    file.writelines(lines)
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
        data = b"".join(line_of(fact) for fact in facts)
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


def line_of(fact: Mapping[str, Any]) -> bytes:
    """Return a fact as a line of the file."""
    return _encode(fact).encode() + b"\n"


def _write_all(file: Any, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _cut_torn_line(path: Path) -> None:
    with path.open("r+b") as file:
        size = end = file.seek(0, os.SEEK_END)
        whole = 0
        while end and not whole:
            begin = max(0, end - _TAIL_BYTES)
            file.seek(begin)
            found = file.read(end - begin).rfind(b"\n")
            whole = begin + found + 1 if found >= 0 else 0
            end = begin
        if whole < size:
            file.truncate(whole)
            os.fsync(file.fileno())
    sync_folder(path.parent)
