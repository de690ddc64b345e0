"""``events.jsonl`` of a run directory: how every stage did over time, workers that came and went, failures.

One JSON object a line, each with ``time`` (seconds since 1970), ``elapsed_s`` and ``event``:

- ``run_started``: the pipeline, its steps and the nodes;
- ``stage``: one stage at one moment, with rates since the moment before;
- ``workers``: workers of a step that are ``starting``, ``ready``, ``draining``, ``stopped`` or ``lost``, with the nodes
  that have most of them;
- ``quarantined``: a task or record that was set aside;
- ``run_finished``: how it ended: ``finished``, ``stopped`` or ``failed``, and of what.

The log of a long run stays small: stages are sampled once a second in the first hour, then ever less often.
"""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any

from curator_core.values.redaction import redact, redact_values

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence
    from pathlib import Path

    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.executors.streaming.observe.samples import StageSample

__all__ = ["EVENTS_FILE", "EventLog", "sample_interval_s"]

_COUNTS = (
    "tasks_in", "tasks_out", "rows_in", "rows_out", "rows_dropped", "bytes_out", "failures", "quarantined",
)  # fmt: skip
EVENTS_FILE = "events.jsonl"
_EVERY_SECOND_FOR_S = 3_600.0
_MAX_RECORDS = 10
_MAX_NODES = 10
_MESSAGE_CHARS = 300

_log = logging.getLogger(__name__)


def sample_interval_s(elapsed_s: float) -> float:
    """Return the time to the next sample: a second, growing so that a log of a day has some 15,000 moments.

    >>> sample_interval_s(60), sample_interval_s(36_000)
    (1.0, 10.0)
    """
    return max(1.0, elapsed_s / _EVERY_SECOND_FOR_S)


class EventLog:
    """Writes the events of one run.

    A log that cannot be written, on a full disk for example, ends with a warning: it is no reason to lose a run.

    Args:
        path: The file; one that is there is replaced.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = None
        try:
            self._file = path.open("w", encoding="utf-8")
        except OSError as error:
            self._give_up(error)

    def run_started(
        self, elapsed_s: float, pipeline: str, steps: Sequence[dict[str, Any]], nodes: Sequence[dict[str, Any]]
    ) -> None:
        """Note what is run, and on what."""
        self._write(elapsed_s, [{"event": "run_started", "pipeline": pipeline, "steps": steps, "nodes": nodes}])

    def stages(self, elapsed_s: float, samples: Sequence[StageSample]) -> None:
        """Note what the stages are doing."""
        self._write(elapsed_s, [_stage_event(sample) for sample in samples])

    def workers(self, elapsed_s: float, step: str, change: str, nodes: Counter[str]) -> None:
        """Note workers of a step that came or went, by node."""
        most = [{"node_id": node, "workers": count} for node, count in nodes.most_common(_MAX_NODES)]
        event = {"event": "workers", "step": step, "change": change, "count": sum(nodes.values()), "nodes": most}
        self._write(elapsed_s, [event])

    def quarantined(self, elapsed_s: float, records: Sequence[QuarantineRecord]) -> None:
        """Note what was set aside: the first few of each moment; the quarantine has them all."""
        self._write(elapsed_s, [_record_event(record) for record in records[:_MAX_RECORDS]])

    def run_finished(self, elapsed_s: float, outcome: str, error: str | None = None) -> None:
        """Note the end and close the file."""
        self._write(elapsed_s, [{"event": "run_finished", "outcome": outcome, "error": error}])
        self.close()

    def close(self) -> None:
        """Close the file; what is written afterwards is ignored."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _write(self, elapsed_s: float, events: Sequence[dict[str, Any]]) -> None:
        if self._file is None or not events:
            return
        stamp = {"time": round(time.time(), 3), "elapsed_s": round(elapsed_s, 3)}
        text = "".join(json.dumps({**stamp, **redact_values(event)}) + "\n" for event in events)
        try:
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        _log.warning("no more events are written to %s: %s", self._path, error)
        try:
            self.close()
        except OSError:
            self._file = None


def _stage_event(sample: StageSample) -> dict[str, Any]:
    live = sample.live
    return {
        "event": "stage",
        "stage": sample.stage,
        "step": live.step,
        "queued": live.queued,
        "running": live.running,
        "workers": live.workers,
        "busy_fraction": round(live.busy_fraction, 3),
        "is_bottleneck": live.is_bottleneck,
        **{name: getattr(sample.counts, name) for name in _COUNTS},
        "tasks_per_s": round(sample.tasks_per_s, 3),
        "rows_per_s": round(sample.rows_per_s, 3),
        "bytes_per_s": round(sample.bytes_per_s, 1),
    }


def _record_event(record: QuarantineRecord) -> dict[str, Any]:
    return {
        "event": "quarantined",
        "stage": record.stage,
        "where": record.where,
        "error_type": record.error_type,
        "message": redact(record.message)[:_MESSAGE_CHARS],  # before a part of a secret is cut off
        "attempts": record.attempts,
    }
