"""The folder that keeps what a run leaves beside its output: plan, quarantine, dropped rows, result."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.quarantine.folder import QuarantineFolder
from curator_core.redaction import redact, redact_values

if TYPE_CHECKING:
    import os

    import pyarrow as pa

    from curator_core.plan import Plan
    from curator_core.quarantine import QuarantineRecord
    from curator_core.tasks import Task

__all__ = ["RunDirectory"]


class RunDirectory:
    """Files of one run.

    ``plan.yaml`` (or ``plan.txt`` for a pipeline that YAML cannot express), ``quarantine/records.jsonl`` and
    ``quarantine/payloads``, ``dropped/<stage>/part-<task>.parquet`` and ``result.json``. The streaming executor adds
    ``events.jsonl``, all that use Ray add ``run.log``. Secrets are left out of everything but the rows themselves.

    Args:
        path: The folder; made where it is missing.
        keeps_payload: Whether the rows and tasks in quarantine are kept, rather than only what is known about them.
    """

    def __init__(self, path: str | os.PathLike[str], *, keeps_payload: bool = True) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self.keeps_payload = keeps_payload
        self.quarantine = QuarantineFolder(self.path)
        self._lock = threading.Lock()

    def write_plan(self, plan: Plan) -> None:
        """Keep the plan in the form a person can read and run again."""
        text = plan.to_yaml(hide_secrets=True)
        name = "plan.txt" if text is None else "plan.yaml"
        (self.path / name).write_text(text or redact(plan.describe()), encoding="utf-8")
        # A run starts with an empty quarantine: what an earlier run left here is not this run's.
        self.quarantine.clear()

    def write_result(self, result: dict[str, Any]) -> None:
        """Keep the summary of the run."""
        text = json.dumps(redact_values(result), indent=2, ensure_ascii=False, default=str) + "\n"
        (self.path / "result.json").write_text(text, encoding="utf-8")

    def add_quarantined(self, record: QuarantineRecord) -> None:
        """Append one record to the quarantine."""
        with self._lock:
            self.quarantine.add([record])

    def keep_payload(self, record: QuarantineRecord, task: Task[Any]) -> QuarantineRecord:
        """Keep what a record is about, for a retry; return the record with the name of its file, if it has one."""
        if not self.keeps_payload:
            return record
        return replace(record, payload_file=self.quarantine.save_payload(record, task))

    def write_dropped(self, stage: str, task_id: str, table: pa.Table) -> None:
        """Keep the rows that a filter dropped from one task; doing it again replaces them."""
        import pyarrow.parquet as pq

        folder = self.path / "dropped" / stage
        folder.mkdir(parents=True, exist_ok=True)
        final = folder / f"part-{task_id.replace('/', '-')}.parquet"
        temporary = final.with_name(f".{final.name}.tmp")
        pq.write_table(table, temporary, write_page_checksum=True, compression="zstd")
        temporary.replace(final)
