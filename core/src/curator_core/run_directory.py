"""The folder that keeps what a run leaves beside its output: plan, quarantine, dropped rows, result."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    import pyarrow as pa

    from curator_core.plan import Plan
    from curator_core.quarantine import QuarantineRecord

__all__ = ["RunDirectory"]


class RunDirectory:
    """Files of one run.

    ``plan.yaml`` (or ``plan.txt`` for a pipeline that YAML cannot express), ``quarantine/records.jsonl``,
    ``dropped/<stage>/part-<task>.parquet`` and ``result.json``. The streaming executor adds ``events.jsonl``, all that
    use Ray add ``run.log``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()

    def write_plan(self, plan: Plan) -> None:
        """Keep the plan in the form a person can read and run again."""
        text = plan.to_yaml()
        name = "plan.txt" if text is None else "plan.yaml"
        (self.path / name).write_text(text or plan.describe(), encoding="utf-8")
        # A run starts with an empty quarantine: what an earlier run left here is not this run's.
        self._quarantine_file.unlink(missing_ok=True)

    def write_result(self, result: dict[str, Any]) -> None:
        """Keep the summary of the run."""
        text = json.dumps(result, indent=2, ensure_ascii=False, default=str) + "\n"
        (self.path / "result.json").write_text(text, encoding="utf-8")

    def add_quarantined(self, record: QuarantineRecord) -> None:
        """Append one record to the quarantine."""
        line = json.dumps(record.to_dict(), ensure_ascii=True) + "\n"
        with self._lock:
            self._quarantine_file.parent.mkdir(exist_ok=True)
            with self._quarantine_file.open("a", encoding="utf-8") as file:
                file.write(line)

    def write_dropped(self, stage: str, task_id: str, table: pa.Table) -> None:
        """Keep the rows that a filter dropped from one task; doing it again replaces them."""
        import pyarrow.parquet as pq

        folder = self.path / "dropped" / stage
        folder.mkdir(parents=True, exist_ok=True)
        final = folder / f"part-{task_id.replace('/', '-')}.parquet"
        temporary = final.with_name(f".{final.name}.tmp")
        pq.write_table(table, temporary, write_page_checksum=True, compression="zstd")
        temporary.replace(final)

    @property
    def _quarantine_file(self) -> Path:
        return self.path / "quarantine" / "records.jsonl"
