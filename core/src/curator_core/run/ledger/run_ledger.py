"""Keep the ledger of a run under way: follow every source task, and write it down when it is done."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import source_id
from curator_core.run.ledger.completion import Completion
from curator_core.run.ledger.descriptions import CONFIDENTIAL, content_hash, describe_files, describe_output
from curator_core.run.ledger.known_sources import KnownSources
from curator_core.values.counts import SourceCounts
from curator_core.values.errors import ResumeError
from curator_core.values.redaction import redact_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from curator_core.authoring.tasks import Task
    from curator_core.run.ledger.ledger_file import LedgerFile
    from curator_core.values.counts import Counts

__all__ = ["RunLedger", "SourceReport", "StageProgress"]

_log = logging.getLogger(__name__)
_SYNC_FRACTION = 0.1
"""Largest fraction of the time to wait for the disk; sources that are done meanwhile are written together."""


@dataclass
class SourceReport:
    """Progress of a call by source task, as a worker reports it to the driver.

    Args:
        position: The step or stage that was called.
        used: Tasks that were used up, by source.
        made: Tasks that were made, by source.
        begun: The files of source tasks that were made.
        counts: Statistics by source and stage.
    """

    position: int
    used: dict[str, int] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)
    begun: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: dict[str, dict[str, Counts]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        position: int,
        *,
        used: Sequence[Task[Any]],
        made: Sequence[Task[Any]],
        counts: dict[str, dict[str, Counts]],
        makes_sources: bool,
    ) -> SourceReport:
        """Make the report of a call from its tasks."""
        return cls(
            position,
            Counter(source_id(task.task_id) for task in used),
            Counter(source_id(task.task_id) for task in made),
            {source_id(task.task_id): known_about(task) for task in made} if makes_sources else {},
            counts,
        )


class RunLedger:
    """The ledger of a run; several threads may report to it.

    Args:
        file: Where it is written.
        finished: Source tasks that an earlier run has done, which are skipped.
        begun: Source tasks that an earlier run has begun and this one may resume; this run adds its own.
        before_commit: Syncs quarantine and dropped rows to disk, which belong to source tasks too.
    """

    def __init__(
        self,
        file: LedgerFile,
        *,
        finished: Collection[str] = frozenset(),
        begun: KnownSources | None = None,
        before_commit: Callable[[], None] = lambda: None,
    ) -> None:
        self.finished = finished
        self.counts = SourceCounts()
        self.begun = KnownSources() if begun is None else begun
        self._file = file
        self._before_commit = before_commit
        self._lock = threading.RLock()
        self._completion = Completion(positions=1)  # nothing is complete for executors that do not report
        self._outputs: dict[str, list[dict[str, Any] | str]] = {}
        self._pending: list[dict[str, Any]] = []
        self._unrecorded: set[str] = set()  # reasons why sources are not
        self._delivered = self._recorded = 0
        self._synced_s = self._sync_cost_s = 0.0

    def start(self, positions: int) -> None:
        """Begin to follow tasks through so many stages or steps."""
        self._completion = Completion(positions)

    # What executors tell

    def entering(self, tasks: Iterable[Task[Any]]) -> Iterator[Task[Any]]:
        """Yield the caller's tasks, without those that are done."""
        for task in tasks:
            source = task.task_id
            if source in self.finished and self._is_the_same(task):
                continue
            if source:
                with self._lock:
                    self._begin({source: known_about(task)})
                    self._completion.entered(source)
            yield task

    def made(self, position: int, task: Task[Any]) -> None:
        """Record a task that a stage in this process has made."""
        source = source_id(task.task_id)
        if source:
            with self._lock:
                if source not in self._completion and source not in self.begun:
                    self._begin({source: known_about(task)})
                self._completion.moved(position, source, made=1)

    def used(self, position: int, tasks: Sequence[Task[Any]]) -> None:
        """Mark tasks whose outputs are complete, or that were given up."""
        for task in tasks:
            source = source_id(task.task_id)
            if source:
                with self._lock:
                    if self._completion.moved(position, source, used=1):
                        self._done(source)

    def take_in(self, report: SourceReport | None) -> None:
        """Record the report of a worker."""
        if report is None:
            return
        with self._lock:
            self.counts.merge(report.counts)
            self._begin({source: each for source, each in report.begun.items() if source})
            for source in {**report.made, **report.used}:
                used, made = report.used.get(source, 0), report.made.get(source, 0)
                if source and self._completion.moved(report.position, source, used=used, made=made):
                    self._done(source)

    def delivered(self, task: Task[Any]) -> None:
        """Record an output that was delivered to the caller."""
        source = source_id(task.task_id)
        with self._lock:
            self._delivered += 1
            if source:
                self._outputs.setdefault(source, []).append(describe_output(task))
                if self._completion.delivered(source):
                    self._done(source)

    # The end

    def finish(self) -> None:
        """Write that the run has finished."""
        with self._lock:
            self.commit()
            rest = self.counts.take("")
            is_complete = self._delivered == self._recorded and not self._unrecorded and not len(self._completion)
            end = {"finished": True, "is_complete": is_complete, "stats": _plain(rest)}
            self._file.append([end], is_durable=True)

    def commit(self) -> None:
        """Write the source tasks that are done, and wait for the disk."""
        with self._lock:
            if not self._pending:
                return
            self._before_commit()
            started_s = time.monotonic()
            lines, self._pending = self._pending, []
            self._file.append(lines, is_durable=True)
            self._synced_s = time.monotonic()
            self._sync_cost_s = self._synced_s - started_s

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    # Inside

    def _begin(self, sources: Mapping[str, Mapping[str, Any]]) -> None:
        """Write that work begins: whose output may be there half done if the run is killed."""
        new = {source: known for source, known in sources.items() if self.begun.add(source)}
        if new:
            self._file.append(({"begun": source, **_shown(known)} for source, known in new.items()), is_durable=False)

    def _done(self, source: str) -> None:
        outputs = self._outputs.pop(source, [])
        described = [each for each in outputs if not isinstance(each, str)]
        counts = _plain(self.counts.take(source))
        if len(described) < len(outputs):
            self._leave_out(source, {each for each in outputs if isinstance(each, str)})
            return
        self._recorded += len(outputs)
        self._pending.append({"done": source, "outputs": described, "stats": counts})
        if time.monotonic() - self._synced_s >= self._sync_cost_s / _SYNC_FRACTION:
            self.commit()

    def _leave_out(self, source: str, reasons: set[str]) -> None:
        """Say, once for each reason, that a source task is not recorded."""
        for reason in sorted(reasons - self._unrecorded):
            _log.log(
                logging.WARNING if reason == CONFIDENTIAL else logging.INFO,
                "source task %s cannot be recorded as done, because an output %s; "
                "a resumed run processes it and others like it again",
                source,
                reason,
            )
        self._unrecorded |= reasons

    def _is_the_same(self, task: Task[Any]) -> bool:
        """Check that an initial task is the one that is done, whose id is only its position."""
        if self.begun.content(task.task_id) == content_hash(task):
            return True
        raise ResumeError(
            f"initial task {task.task_id} is not the one that the interrupted run got",
            fix='give the same tasks; given as a list, those that differ are redone with resume="changed"',
        )


class StageProgress:
    """Reports of one stage in this process to the ledger."""

    def __init__(self, ledger: RunLedger, position: int) -> None:
        self._ledger = ledger
        self._position = position

    def made(self, task: Task[Any]) -> None:
        """Record an output."""
        self._ledger.made(self._position, task)

    def used(self, tasks: Sequence[Task[Any]]) -> None:
        """Mark inputs whose outputs are complete."""
        self._ledger.used(self._position, tasks)

    def lost(self, task: Task[Any]) -> None:
        """Record an output that does not reach the next stage."""
        self._ledger.used(self._position + 1, [task])


def known_about(task: Task[Any]) -> dict[str, Any]:
    """Return the description of a source task for the ledger: its files, or a hash of its content."""
    files = describe_files(task)
    if files is not None:
        return {"files": files}
    content = content_hash(task)
    return {} if content is None else {"content": content}


def _shown(known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Hide credentials in a description: workers, which make most of them, do not know the values to hide."""
    if "files" not in known:
        return known
    return {**known, "files": [{**each, "path": redact_credentials(each["path"])} for each in known["files"]]}


def _plain(counts: Mapping[str, Counts]) -> dict[str, dict[str, Any]]:
    return {stage: each.to_json() for stage, each in counts.items()}
