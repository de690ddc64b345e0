"""Bring the quarantine up to date after a retry: all of it or, when that is interrupted, the rest of it the next time.

What is to be done is written down first, in one file that appears whole. Every step can be repeated.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from curator_core.call.quarantine_record import QuarantineRecord
from curator_core.files.private_folders import make_private_folder
from curator_core.run.quarantine.folder import QuarantineFolder, Resolution
from curator_core.run.quarantine.retry_plan import Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["apply_verdicts", "finish_interrupted"]


def apply_verdicts(folder: QuarantineFolder, verdicts: Verdicts) -> None:
    """Apply the decisions about the records of a retry."""
    journal = _journal(folder)
    journal.parent.mkdir(parents=True, exist_ok=True)
    temporary = journal.with_name(f".{journal.name}.tmp")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(asdict(verdicts), file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(journal)
    _carry_out(folder, verdicts)


def finish_interrupted(folder: QuarantineFolder) -> None:
    """Apply the decisions of an interrupted retry; discard a retry that was interrupted before them."""
    journal = _journal(folder)
    if journal.exists():
        values = json.loads(journal.read_text(encoding="utf-8"))
        resolved = [
            Resolution(each["record_id"], each["time"], tuple(each["outputs"]), tuple(each["replaced_by"]))
            for each in values["resolved"]
        ]
        records = [QuarantineRecord.from_dict(each) for each in values["records"]]
        _carry_out(folder, Verdicts(resolved, records, values["obsolete"]))
    elif folder.retry.exists():  # its output files have the names that the next retry gives them
        shutil.rmtree(folder.retry)


def _carry_out(folder: QuarantineFolder, verdicts: Verdicts) -> None:
    own = QuarantineFolder(folder.retry)
    records = [_with_payload(record, own, folder) for record in verdicts.records]
    _move_files(folder.retry / "dropped", folder.path.parent / "dropped")
    resolutions = folder.resolutions()
    folder.reopen(record.record_id for record in records if record.record_id in resolutions)
    folder.add(records)
    folder.resolve(verdicts.resolved)
    _remove_files(verdicts.obsolete)
    for resolution in verdicts.resolved:
        (folder.payloads / f"{resolution.record_id}.arrow").unlink(missing_ok=True)
    shutil.rmtree(folder.retry)


def _with_payload(record: QuarantineRecord, own: QuarantineFolder, folder: QuarantineFolder) -> QuarantineRecord:
    """Move the payload of a record to the real quarantine, under the record's name."""
    if record.payload_file is None:
        return record
    made, final = own.payloads / record.payload_file, folder.payloads / f"{record.record_id}.arrow"
    if made.is_file():
        make_private_folder(final.parent)
        made.replace(final)
    return replace(record, payload_file=final.name)


def _move_files(source: Path, target: Path) -> None:
    if not source.exists():
        return
    make_private_folder(target)
    for path in list(source.rglob("*")):
        if path.is_file():
            final = target / path.relative_to(source)
            final.parent.mkdir(parents=True, exist_ok=True)
            path.replace(final)


def _remove_files(paths: Iterable[str]) -> None:
    from curator_core.files.filesystems import open_filesystem

    for path in paths:
        filesystem, inner = open_filesystem(path)
        if filesystem.exists(inner):
            filesystem.rm(inner)


def _journal(folder: QuarantineFolder) -> Path:
    return folder.retry / "verdicts.json"
