"""The workers of one stage: a ``ray.util.ActorPool`` that is filled as they start and refilled as they die."""

from __future__ import annotations

import contextlib
import itertools
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray import import_ray
from curator_core.executors.ray.worker_lease import end_lease, hold_lease
from curator_core.executors.stage_worker import StageWorker
from curator_core.executors.stored_tasks import Slice, after_death
from curator_core.executors.task_packs import pack_tasks, unpack_tasks
from curator_core.values.errors import StageError, WorkerDiedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curator_core.executors.stage_worker import WorkerReport, WorkerSettings
    from curator_core.executors.stored_tasks import Call
    from curator_core.executors.task_packs import TaskGroup

__all__ = ["Finished", "PoolWorker", "StagePool"]

_log = logging.getLogger(__name__)
_GRACE_S = 5.0
_REMIND_S = 60.0


@dataclass(frozen=True)
class _Reply:
    """The part of a call's result that goes to the driver."""

    key: tuple[int, ...]
    tasks_out: int
    bytes_in: int
    report: WorkerReport


class PoolWorker:
    """The actor: a stage worker whose input and output stay in the object store."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._run_id = settings.run_id
        self._worker = StageWorker(settings)

    def open(self, lease: str) -> WorkerReport:
        """Set the stage up; files are written only while the worker has its lease."""
        hold_lease(self._run_id, lease)
        return self._worker.open()

    def run(
        self, key: tuple[int, ...], bounds: Sequence[tuple[int, int]], *packs: list[TaskGroup]
    ) -> tuple[list[TaskGroup], _Reply]:
        """Process the given parts of stored packs; the small second result goes to the driver."""
        tasks = [
            task for pack, (start, stop) in zip(packs, bounds, strict=True) for task in unpack_tasks(pack, start, stop)
        ]
        done = self._worker.run_all(tasks, pack_tasks)
        return done.packed, _Reply(key, done.tasks, sum(task.size_bytes for task in tasks), done.report)

    def close(self) -> WorkerReport:
        """Tear the stage down."""
        return self._worker.close()


@dataclass(frozen=True)
class Finished:
    """A call that came back.

    Args:
        call: The call.
        outputs: What it made, still in the store.
        bytes_in: Size of what it got.
        report: What the worker reports.
    """

    call: Call
    outputs: Slice
    bytes_in: int
    report: WorkerReport


@dataclass(frozen=True)
class _Running:
    call: Call
    actor: Any
    outputs: Any
    reply: Any


@dataclass(frozen=True)
class _Worker:
    options: dict[str, Any]
    lease: str


class StagePool:
    """Runs calls on as many actors as have started.

    Args:
        settings: What the workers need to know.
        options: Ray's options for each actor, one entry per worker.
        max_deaths: How many workers may die of the same tasks, or while starting.
    """

    def __init__(self, settings: WorkerSettings, options: Sequence[dict[str, Any]], *, max_deaths: int) -> None:
        from ray.util import ActorPool

        self._ray = import_ray()
        errors = self._ray.exceptions
        self._deaths = (errors.RayActorError, errors.OutOfMemoryError, errors.WorkerCrashedError)
        self._settings = settings
        self._max_deaths = max_deaths
        self._failed_starts = 0
        self._failed_setups = 0
        self._has_started = False
        self._put_aside: list[dict[str, Any]] = []  # of workers that failed before any was set up
        self._class = self._ray.remote(PoolWorker)
        self._pool: Any = ActorPool([])
        self._workers: dict[Any, _Worker] = {}  # by handle; Ray ends an actor whose handle is gone, and frees its GPUs
        self._numbers = itertools.count()
        self._starting: dict[Any, Any] = {}
        self._running: dict[tuple[int, ...], _Running] = {}
        for each in options:
            self._start(each)

    @property
    def is_busy(self) -> bool:
        """Whether calls are running."""
        return bool(self._running)

    def has_free(self) -> bool:
        """Whether a worker waits for a call."""
        return bool(self._pool.has_free())

    def submit(self, call: Call) -> None:
        """Give a call to a free worker."""
        self._pool.submit(self._send, call)

    def wait(self) -> None:
        """Wait until a worker has started or a call has come back."""
        pending = [*self._starting, *(each.reply for each in self._running.values())]
        while not self._ray.wait(pending, num_returns=1, timeout=_REMIND_S, fetch_local=False)[0]:
            if len(self._starting) == len(self._workers):
                _log.warning(
                    "no worker of stage %r has started for %.0f s; is the cluster full?",
                    self._settings.name,
                    _REMIND_S,
                )

    def take_started(self) -> list[WorkerReport]:
        """Put workers that are set up to use; return their reports."""
        reports = []
        ready, _ = self._ray.wait(list(self._starting), num_returns=len(self._starting), timeout=0)
        for reply in ready:
            actor = self._starting.pop(reply)
            try:
                report = self._ray.get(reply)
            except self._deaths as error:
                self._restart_failed(actor, error)
                continue
            if report.error is None:
                self._pool.push(actor)
                self._has_started = True
                self._failed_setups = 0
                while self._put_aside:
                    self._start(self._put_aside.pop())
                reports.append(report)
            else:
                reports.append(self._setup_failed(actor, report))
        return reports

    def take_finished(self, on_guilty: Callable[[Call, WorkerDiedError], None]) -> tuple[list[Finished], list[Call]]:
        """Return the calls that came back, and those to repeat because their worker died.

        Args:
            on_guilty: Gets a call whose only task has killed too many workers.
        """
        finished: list[Finished] = []
        repeated: list[Call] = []
        while self._pool.has_next():
            try:
                reply: _Reply = self._pool.get_next_unordered(timeout=0)
            except TimeoutError:  # noqa: PERF203 - the rest is still running
                break
            except self._deaths:
                repeated += self._bury(on_guilty)
            else:
                done = self._running.pop(reply.key)
                outputs = Slice(done.outputs, 0, reply.tasks_out)
                finished.append(Finished(done.call, outputs, reply.bytes_in, reply.report))
        return finished, repeated

    def close(self) -> list[WorkerReport]:
        """Tear down the workers that live and end all; those that take too long are killed."""
        # Also those that are starting: one may be set up already without having been heard of.
        closing = [actor.close.remote() for actor in self._workers]
        ready, _ = self._ray.wait(closing, num_returns=len(closing), timeout=_GRACE_S) if closing else ([], [])
        reports: list[WorkerReport] = []
        for reply in ready:
            with contextlib.suppress(self._ray.exceptions.RayError):  # died meanwhile: nothing left to tear down
                reports.append(self._ray.get(reply))
        for actor in list(self._workers):
            self._release(actor)
            self._ray.kill(actor)
        self._running.clear()
        return reports

    def _start(self, options: dict[str, Any]) -> None:
        actor = self._class.options(max_restarts=0, max_task_retries=0, **options).remote(self._settings)
        lease = f"{self._settings.name}-{next(self._numbers)}"
        self._workers[actor] = _Worker(options, lease)
        self._starting[actor.open.remote(lease)] = actor

    def _release(self, actor: Any) -> dict[str, Any]:
        """Let a worker write no more files and forget it; return its options, for another one."""
        worker = self._workers.pop(actor)
        end_lease(self._settings.run_id, worker.lease)
        return worker.options

    def _send(self, actor: Any, call: Call) -> Any:
        bounds = [(each.start, each.stop) for each in call.slices]
        packs = [each.ref for each in call.slices]
        outputs, reply = actor.run.options(num_returns=2).remote(call.key, bounds, *packs)
        self._running[call.key] = _Running(call, actor, outputs, reply)
        return reply

    def _restart_failed(self, actor: Any, error: Exception) -> None:
        options = self._release(actor)
        self._failed_starts += 1
        if self._failed_starts >= self._max_deaths:
            raise StageError(
                f"workers of stage {self._settings.name!r} died {self._failed_starts} times while they were set "
                f"up: {error}",
                fix="look for crashes in native code and for too little memory; LocalExecutor shows the failure itself",
            ) from error
        self._start(options)

    def _setup_failed(self, actor: Any, report: WorkerReport) -> WorkerReport:
        """Try again if a worker of the stage has been set up; return the report, with the error where it is final."""
        assert report.error is not None
        options = self._release(actor)
        actor.close.remote()
        self._failed_setups += 1
        if not self._has_started:
            self._put_aside.append(options)
        elif self._failed_setups < self._max_deaths:
            self._start(options)
        if not self._workers:
            return report
        _log.warning("a worker of stage %r could not be set up: %s", self._settings.name, report.error.summary)
        return replace(report, error=None)

    def _bury(self, on_guilty: Callable[[Call, WorkerDiedError], None]) -> list[Call]:
        """Replace the workers that died and return the calls they had."""
        repeated: list[Call] = []
        dead = [each for each in self._running.values() if self._is_lost(each)]
        for each in dead:
            del self._running[each.call.key]
            calls = after_death(each.call, max_deaths=self._max_deaths)
            if not calls:
                on_guilty(each.call, _death_of(self._settings.name, self._max_deaths))
            repeated += calls
            options = self._release(each.actor)
            self._ray.kill(each.actor)  # it may only be out of reach
            self._start(options)
        self._remove_from_pool({each.actor for each in dead})
        return repeated

    def _is_lost(self, running: _Running) -> bool:
        ready, _ = self._ray.wait([running.reply], timeout=0)
        if not ready:
            return False
        try:
            self._ray.get(running.reply)
        except self._deaths:
            return True
        return False

    def _remove_from_pool(self, dead: set[Any]) -> None:
        """Keep dead workers from getting calls: older versions of Ray put them back among the free ones."""
        free = []
        while (actor := self._pool.pop_idle()) is not None:
            free.append(actor)
        for actor in free:
            if actor not in dead:
                self._pool.push(actor)


def _death_of(stage_name: str, deaths: int) -> WorkerDiedError:
    return WorkerDiedError(f"stage {stage_name!r}: {deaths} workers died while each of them ran this task alone")
