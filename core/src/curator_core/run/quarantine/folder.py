"""The folder ``quarantine`` of a run directory: records, payloads, and the outcomes of retries.

``records.jsonl`` has one record a line. A record that fails again in a retry is appended again, and the last line of an
id counts. ``resolved.jsonl`` names the records that were retried with success, with the files that came of it; there
too the last line counts.
``payloads/<record>.arrow`` has the rows or the task of a record, and ``retry`` what a retry under way has found so far.
All of it is closed to other users: records quote the data in their errors, and payloads are the data.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from curator_core.authoring.tasks import source_id
from curator_core.call.quarantine_payload import decode_payload, encode_payload
from curator_core.call.quarantine_record import QuarantineRecord
from curator_core.files.atomic import atomic_output, sync_folder
from curator_core.files.private_folders import make_private_folder, private_opener
from curator_core.values.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from curator_core.authoring.tasks import Task

__all__ = ["QuarantineFolder", "Resolution"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Resolution:
    """The outcome of a retry of one record.

    Args:
        record_id: The record.
        time: When, in UTC (ISO 8601).
        outputs: Files that came of its rows alone.
        replaced_by: Records that took its place, where some of its rows failed again.
    """

    record_id: str
    time: str
    outputs: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()


class QuarantineFolder:
    """The quarantine of one run; nothing is made on disk before the first record.

    Args:
        run_dir: The run directory.
    """

    def __init__(self, run_dir: str | os.PathLike[str]) -> None:
        self.path = Path(run_dir) / "quarantine"
        self.payloads = self.path / "payloads"
        self.retry = self.path / "retry"
        self._records = self.path / "records.jsonl"
        self._resolved = self.path / "resolved.jsonl"

    def clear(self) -> None:
        """Remove everything: a new run begins."""
        for folder in (self.retry, self.payloads):
            if folder.exists():
                shutil.rmtree(folder)
        for file in (self._records, self._resolved):
            file.unlink(missing_ok=True)

    def add(self, records: Iterable[QuarantineRecord]) -> None:
        """Append records."""
        self._append(self._records, (record.to_dict() for record in records))

    def keep_only(self, sources: Collection[str]) -> Iterator[QuarantineRecord]:
        """Keep only the records of these source tasks, and yield them: the others are going to be made again."""
        if not self._records.exists():
            return
        forgotten = {each.record_id for each in self.records().values() if source_id(each.task_id) not in sources}
        self.reopen(sorted(forgotten & self.resolutions().keys()))  # or it would seem resolved when it fails again
        mode = self._records.stat().st_mode
        with atomic_output(str(self._records)) as kept:
            for values in _lines(self._records):
                record = QuarantineRecord.from_dict(values)
                if source_id(record.task_id) in sources:
                    kept.write(_line(values))
                    yield record
                elif record.payload_file is not None:
                    (self.payloads / Path(record.payload_file).name).unlink(missing_ok=True)
        self._records.chmod(mode)

    def sync(self) -> None:
        """Wait until the records are on the disk."""
        with self._records.open("r+b") as file:
            os.fsync(file.fileno())
        sync_folder(self.path)

    def reopen(self, record_ids: Iterable[str]) -> None:
        """Mark records as no longer resolved: their rows were processed again, and failed again."""
        self._append(self._resolved, ({"record_id": each, "is_open": True} for each in record_ids))

    def resolve(self, resolutions: Iterable[Resolution]) -> None:
        """Write the outcomes of retried records."""
        self._append(self._resolved, (vars(each) for each in resolutions))

    def save_payload(self, record: QuarantineRecord, task: Task[Any]) -> str | None:
        """Keep the task of a record, whole or not at all; return the file's name, or None where it cannot be kept.

        A disk that is full is no reason to end the run here: the record can still be retried from its source.
        """
        data = encode_payload(task, task_id=record.retry_id)
        if data is None:
            return None
        name = f"{record.record_id}.arrow"
        temporary = self.payloads / f".{name}.tmp-{os.getpid()}"
        try:
            make_private_folder(self.path)
            make_private_folder(self.payloads)
            with open(temporary, "wb", opener=private_opener) as file:
                file.write(data)
            temporary.replace(self.payloads / name)
        except OSError as error:
            _log.warning("the task of record %s is not kept: %s", record.record_id, error)
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            return None
        return name

    def load_payload(self, record: QuarantineRecord, *, task_type: type[Task[Any]]) -> Task[Any]:
        """Return the task of a record.

        Raises:
            DataError: Its file is missing or damaged.
        """
        assert record.payload_file is not None
        path = self.payloads / Path(record.payload_file).name  # a name, whatever the record says
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DataError(f"the kept task cannot be read: {error.strerror}", source=str(path)) from error
        task = decode_payload(data, task_type=task_type, where=str(path))
        task.task_id = record.retry_id
        return task

    def records(self) -> dict[str, QuarantineRecord]:
        """Return all records by id, resolved or not, in the order they came; the last line of an id counts."""
        found: dict[str, QuarantineRecord] = {}
        for values in _lines(self._records):
            record = QuarantineRecord.from_dict(values)
            found[record.record_id] = record
        return found

    def resolutions(self) -> dict[str, Resolution]:
        """Return the outcomes of retried records, by id."""
        found: dict[str, Resolution] = {}
        for values in _lines(self._resolved):
            record_id = values["record_id"]
            if values.get("is_open"):
                found.pop(record_id, None)
                continue
            found[record_id] = Resolution(
                record_id, values["time"], tuple(values["outputs"]), tuple(values["replaced_by"])
            )
        return found

    def _append(self, file: Path, entries: Iterable[dict[str, Any]]) -> None:
        text = b"".join(map(_line, entries))
        if not text:
            return
        make_private_folder(self.path)
        with open(file, "ab+", opener=private_opener) as handle:
            _cut_torn_line(handle)
            handle.write(text)


def _line(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=True).encode() + b"\n"


def _cut_torn_line(file: BinaryIO) -> None:
    """Remove a last line that a crash left without its end, so that the next does not join it."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    file.truncate(file.read().rfind(b"\n") + 1)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects in a file; a last line that was torn by a crash is left out."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            values = json.loads(line)
        except ValueError as error:
            if number == len(lines):
                return
            raise ConfigError(
                f"{path}:{number}: not a record: {error}", fix="remove the line, or run the pipeline again"
            ) from error
        yield values
