"""Open the ledger of a run directory: a new one, or that of the run to resume."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.run.directory import LEDGER_FILE
from curator_core.run.ledger.identity import plan_identity
from curator_core.run.ledger.ledger_file import LedgerFile, header, line_of, read_ledger
from curator_core.run.ledger.missing_outputs import missing_outputs
from curator_core.run.ledger.resume import current_sources, decide
from curator_core.run.ledger.run_ledger import RunLedger
from curator_core.run.quarantine.settlement import finish_interrupted
from curator_core.values.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from curator_core.authoring.tasks import Task
    from curator_core.plan.plan import Plan
    from curator_core.run.directory import RunDirectory
    from curator_core.run.ledger.ledger_file import LedgerContent
    from curator_core.run.ledger.resume import Decision, Resume

__all__ = ["Opened", "only_run", "open_ledger", "remove_torn", "start_over"]

_log = logging.getLogger(__name__)
_LOCK_FILE = "ledger.lock"


@dataclass(frozen=True)
class Opened:
    """A ledger that a run may write.

    Args:
        ledger: The ledger; None when there is nothing left to do.
        decision: How to resume the earlier run; None for a fresh start.
    """

    ledger: RunLedger | None
    decision: Decision | None = None


@contextmanager
def open_ledger(
    directory: RunDirectory, plan: Plan, *, initial_tasks: Iterable[Task[Any]] | None = None, resume: Resume = False
) -> Iterator[Opened]:
    """Open the ledger of a run directory and lock it against other runs.

    Raises:
        LedgerError: Another run is writing it, or it cannot be read or written.
        ResumeError: It belongs to another pipeline or to other input.
    """
    with only_run(directory.path):
        path = directory.path / LEDGER_FILE
        content = _read(path, needed=bool(resume))
        if content is None or not resume:
            opened = _start_afresh(directory, plan, path, content, resume=resume)
        else:
            finish_interrupted(directory.quarantine)
            sources = current_sources(plan, initial_tasks)
            decision = decide(
                content,
                plan_identity(plan),
                sources,
                missing=missing_outputs(content.entries()),
                resume=resume,
                run_dir=str(directory.path),
                canonical_name=plan.registry.canonical_name,
            )
            if sources is None and initial_tasks is not None:  # an iterator may hold more than it did
                decision.is_finished = False
            opened = _go_on(directory, plan, path, decision)
        try:
            yield opened
        finally:
            if opened.ledger is not None:
                opened.ledger.close()


def start_over(directory: RunDirectory, plan: Plan) -> None:
    """Remove an earlier run's files from the directory, and the files that retries of its quarantine wrote.

    Those have names that no run gives to files, so nothing would replace them, and their rows would come out twice.
    """
    directory.forget_ledger()  # first: were it to call the run finished, a crash here would lose those files
    retried = {record.retry_id for record in directory.quarantine.records().values() if record.is_part}
    _remove(directory, plan, retried, only_torn=False)
    directory.clear()


def remove_torn(directory: RunDirectory, plan: Plan, sources: Collection[str]) -> None:
    """Remove incomplete files that killed processes left for these source tasks."""
    _remove(directory, plan, sources, only_torn=True)


def _start_afresh(
    directory: RunDirectory, plan: Plan, path: Path, content: LedgerContent | None, *, resume: Resume
) -> Opened:
    if content is not None:
        if content.done and content.finished is None:
            _log.warning(
                "%s holds an unfinished run, with %s source tasks done; it is started afresh (resume to keep it)",
                directory.path,
                f"{len(content.done):,}",
            )
        remove_torn(directory, plan, content.begun)
    elif resume:
        _log.info("%s holds no run to resume: this is the first", directory.path)
    start_over(directory, plan)
    file = LedgerFile(path, [line_of(header(plan_identity(plan)))])
    return Opened(RunLedger(file, before_commit=directory.sync))


def _go_on(directory: RunDirectory, plan: Plan, path: Path, decision: Decision) -> Opened:
    content = decision.content
    for note in decision.notes:
        _log.warning("%s: %s", directory.path, note)
    if decision.is_finished:
        _log.info("%s: the run is finished, all %s source tasks are done", directory.path, f"{len(content.done):,}")
        return Opened(None, decision)
    # The ledger first: were it to say "done" of files that are removed, a crash here would lose them.
    file = LedgerFile(path, content.lines() if decision.is_changed else None)
    if decision.is_changed:
        content.superseded.clear()  # these lines are gone
    _remove(directory, plan, decision.stale, only_torn=False)
    remove_torn(directory, plan, content.begun)
    _log.info("%s: resuming after %s finished source tasks", directory.path, f"{len(content.done):,}")
    begun = content.begun.without(decision.stale) if decision.stale else content.begun
    ledger = RunLedger(file, finished=content.done, begun=begun, before_commit=directory.sync)
    return Opened(ledger, decision)


def _remove(directory: RunDirectory, plan: Plan, sources: Collection[str], *, only_torn: bool) -> None:
    if sources:
        for planned in plan.stages:
            planned.stage.remove_output(sources, only_torn=only_torn)
        directory.remove_dropped(sources, only_torn=only_torn)


def _read(path: Path, *, needed: bool) -> LedgerContent | None:
    try:
        return read_ledger(path)
    except LedgerError as error:
        if needed:
            raise
        _log.warning("the ledger that was there is replaced: %s", error.message)
        return None


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Keep a second run out of the directory; the system lets go of the lock when the process ends, however it does."""
    from filelock import FileLock, Timeout

    lock = FileLock(str(folder / _LOCK_FILE))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise LedgerError(
            f"another run is at work in {str(folder)!r}", fix="wait for it, stop it, or choose another run directory"
        ) from error
    except NotImplementedError:
        _log.warning("%s is on a disk without locks: nothing keeps a second run out", folder)
    try:
        yield
    finally:
        lock.release()
