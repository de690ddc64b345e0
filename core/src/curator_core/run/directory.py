"""The run directory: plan, ledger, quarantine, dropped rows and result of a run."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.files.atomic import atomic_output
from curator_core.files.parts import part_name, remove_parts
from curator_core.files.private_folders import make_private_folder
from curator_core.run.quarantine.folder import QuarantineFolder
from curator_core.values.redaction import redact, redact_values

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable

    import pyarrow as pa

    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.plan.plan import Plan

__all__ = ["LEDGER_FILE", "RunDirectory"]

LEDGER_FILE = "ledger.jsonl"


class RunDirectory:
    """Files of one run.

    ``plan.yaml`` (or ``plan.txt`` for a pipeline that YAML cannot express), ``ledger.jsonl``,
    ``quarantine/records.jsonl`` and ``quarantine/payloads``, ``dropped/<stage>/part-<task>.parquet`` and
    ``result.json``. The streaming executor adds ``events.jsonl``, all that use Ray add ``run.log``. Secrets are left
    out of everything but the rows themselves.

    Args:
        path: The folder; made where it is missing.
        keeps_payload: Whether the rows and tasks in quarantine are kept, rather than only the records about them.
    """

    def __init__(self, path: str | os.PathLike[str], *, keeps_payload: bool = True) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.keeps_payload = keeps_payload
        self.quarantine = QuarantineFolder(self.path)
        self._lock = threading.Lock()
        self._has_unsynced = False

    def forget_ledger(self) -> None:
        """Remove the ledger of an earlier run."""
        (self.path / LEDGER_FILE).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove ledger, quarantine, dropped rows and result of an earlier run."""
        self.forget_ledger()
        self.quarantine.clear()
        (self.path / "result.json").unlink(missing_ok=True)
        for part in (self.path / "dropped").glob("*/*.parquet"):
            part.unlink(missing_ok=True)

    def write_plan(self, plan: Plan) -> None:
        """Keep the plan in the form a person can read and run again."""
        text = plan.to_yaml(hide_secrets=True)
        name = "plan.txt" if text is None else "plan.yaml"
        self._replace(name, text or redact(plan.describe()))

    def write_result(self, summary: dict[str, Any], outputs: Iterable[str]) -> None:
        """Keep the summary of the run, and the names of its output files, written one by one."""
        text = json.dumps(redact_values(summary), indent=2, ensure_ascii=False, default=str)
        with atomic_output(str(self.path / "result.json")) as file:
            file.write(f'{text.removesuffix("}").rstrip()},\n  "outputs": ['.encode())
            between = ""
            for path in outputs:
                file.write(f"{between}\n    {json.dumps(redact(path), ensure_ascii=False)}".encode())
                between = ","
            file.write(b"\n  ]\n}\n" if between else b"]\n}\n")

    def add_quarantined(self, record: QuarantineRecord) -> None:
        """Append one record to the quarantine."""
        with self._lock:
            self.quarantine.add([record])
            self._has_unsynced = True

    def keep_payload(self, record: QuarantineRecord, task: Task[Any]) -> QuarantineRecord:
        """Keep the task or rows of a record for a retry; return the record with the name of their file."""
        if not self.keeps_payload:
            return record
        return replace(record, payload_file=self.quarantine.save_payload(record, task))

    def sync(self) -> None:
        """Wait until the quarantine is on the disk."""
        with self._lock:
            has_unsynced, self._has_unsynced = self._has_unsynced, False
        if has_unsynced:
            self.quarantine.sync()

    def write_dropped(self, stage: str, task_id: str, table: pa.Table) -> None:
        """Keep the rows that a filter dropped from one task; doing it again replaces them."""
        import pyarrow.parquet as pq

        folder = self.path / "dropped" / stage
        make_private_folder(self.path / "dropped")
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_output(str(folder / part_name(task_id, ".parquet"))) as file:
            pq.write_table(table, file, write_page_checksum=True, compression="zstd")

    def rename_dropped(self, named_today: Callable[[str], str]) -> None:
        """Give the folders of dropped rows the names that their stages have today."""
        for folder in (self.path / "dropped").glob("*/"):
            name = named_today(folder.name)
            if name != folder.name and not folder.with_name(name).exists():
                folder.rename(folder.with_name(name))

    def remove_dropped(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the dropped rows of source tasks."""
        for folder in (self.path / "dropped").glob("*/"):
            remove_parts(str(folder), sources, only_torn=only_torn)

    def _replace(self, name: str, text: str) -> None:
        with atomic_output(str(self.path / name)) as file:
            file.write(text.encode("utf-8"))
