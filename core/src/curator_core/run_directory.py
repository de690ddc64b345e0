"""The folder that keeps what a run leaves beside its output: plan, ledger, quarantine, dropped rows, result."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.io.atomic import atomic_output, remove_files, sync_folder
from curator_core.quarantine import QuarantineRecord
from curator_core.tasks import source_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pyarrow as pa

    from curator_core.plan import Plan

__all__ = ["LEDGER_FILE", "RunDirectory"]

LEDGER_FILE = "ledger.jsonl"


class RunDirectory:
    """Files of one run.

    ``plan.yaml`` (or ``plan.txt`` for a pipeline that YAML cannot express), ``ledger.jsonl``,
    ``quarantine/records.jsonl``, ``dropped/<stage>/part-<task>.parquet`` and ``result.json``. The streaming executor
    adds ``events.jsonl``, all that use Ray add ``run.log``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._has_unsynced = False

    def clear(self) -> None:
        """Remove what an earlier run left, because it is not this run's: ledger, quarantine, dropped rows, result."""
        (self.path / LEDGER_FILE).unlink(missing_ok=True)
        self._quarantine_file.unlink(missing_ok=True)
        (self.path / "result.json").unlink(missing_ok=True)
        for part in (self.path / "dropped").glob("*/*.parquet"):
            part.unlink(missing_ok=True)

    def write_plan(self, plan: Plan) -> None:
        """Keep the plan in the form a person can read and run again."""
        text = plan.to_yaml()
        name = "plan.txt" if text is None else "plan.yaml"
        self._replace(name, text or plan.describe())

    def write_result(self, result: dict[str, Any]) -> None:
        """Keep the summary of the run."""
        self._replace("result.json", json.dumps(result, indent=2, ensure_ascii=False, default=str) + "\n")

    def add_quarantined(self, record: QuarantineRecord) -> None:
        """Append one record to the quarantine."""
        line = json.dumps(record.to_dict(), ensure_ascii=True) + "\n"
        with self._lock:
            self._quarantine_file.parent.mkdir(exist_ok=True)
            with self._quarantine_file.open("a", encoding="utf-8") as file:
                file.write(line)
            self._has_unsynced = True

    def sync(self) -> None:
        """Wait until the quarantine is on the disk."""
        with self._lock:
            has_unsynced, self._has_unsynced = self._has_unsynced, False
        if has_unsynced:
            with self._quarantine_file.open("r+b") as file:
                os.fsync(file.fileno())
            sync_folder(self._quarantine_file.parent)

    def keep_quarantined(self, finished: Collection[str]) -> Iterator[QuarantineRecord]:
        """Keep only the records of these source tasks, and yield them: the others are going to be made again."""
        if not self._quarantine_file.exists():
            return
        with (
            self._quarantine_file.open(encoding="utf-8") as lines,
            atomic_output(str(self._quarantine_file)) as kept,
        ):
            for line in lines:
                record = _record(line)
                if record is not None and source_id(record.task_id) in finished:
                    kept.write(line.encode("utf-8"))
                    yield record

    def write_dropped(self, stage: str, task_id: str, table: pa.Table) -> None:
        """Keep the rows that a filter dropped from one task; doing it again replaces them."""
        import pyarrow.parquet as pq

        folder = self.path / "dropped" / stage
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_output(str(folder / f"part-{task_id.replace('/', '-')}.parquet")) as file:
            pq.write_table(table, file, write_page_checksum=True, compression="zstd")

    def remove_dropped(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the dropped rows of source tasks."""
        stems = {f"part-{source}" for source in sources}
        for folder in (self.path / "dropped").glob("*/"):
            remove_files(str(folder), stems, only_torn=only_torn)

    def _replace(self, name: str, text: str) -> None:
        with atomic_output(str(self.path / name)) as file:
            file.write(text.encode("utf-8"))

    @property
    def _quarantine_file(self) -> Path:
        return self.path / "quarantine" / "records.jsonl"


def _record(line: str) -> QuarantineRecord | None:
    """Read a record; None for a line that was torn by a crash."""
    try:
        values = json.loads(line)
        known = (each.name for each in fields(QuarantineRecord))
        return QuarantineRecord(**{name: values[name] for name in known if name in values})
    except (ValueError, TypeError):
        return None
