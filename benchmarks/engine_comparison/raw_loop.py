"""The bound: a loop over Ray actors, written by hand for these cases, with nothing a real engine needs besides."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ray

from engine_comparison.measures import Outcome
from engine_comparison.program import serve
from engine_comparison.ray_session import slots_of, start_ray
from engine_comparison.store_peak import store_peak
from engine_comparison.workload import source_item

if TYPE_CHECKING:
    from engine_comparison.cases import Case
    from engine_comparison.workload import Item, Workload


@ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0)
class Worker:
    """One process of one stage."""

    def __init__(self, workload: Workload, stage: int) -> None:
        self.workload = workload
        self.stage = stage
        workload.start_worker(stage)

    def ready(self) -> None:
        """Return when the worker has started."""

    @ray.method(num_returns=2)
    def run(self, chunk: list[Item]) -> tuple[list[Item], list[int]]:
        """Return what came out, and the tasks that failed."""
        done, failed = [], []
        for item in chunk:
            try:
                done.append(self.workload.step(self.stage, item))
            except ValueError:  # noqa: PERF203 - one bad task must not take its chunk along
                failed.append(item[0])
        return done, failed


@dataclass(frozen=True)
class Call:
    """A chunk on its way through a worker."""

    stage: int
    worker: Any
    chunk: Any
    result: Any


class Loop:
    """Sends chunks through pools of actors, downstream first, until all are done.

    Args:
        workload: What the stages do.
        workers: Number of actors of each stage.
        depth: Calls that an actor is given at a time.
        leases: Calls that run at a time in all stages together.
        chunk: Tasks in a call.
    """

    def __init__(self, workload: Workload, *, workers: tuple[int, ...], depth: int, leases: int, chunk: int) -> None:
        self.workload = workload
        self.depth = depth
        self.leases = leases
        stages = range(workload.last + 1)
        numbers = range(0, workload.tasks, chunk)
        self.queues: list[deque[Any]] = [deque() for _ in stages]
        self.queues[0].extend(range(first, min(first + chunk, workload.tasks)) for first in numbers)
        self.bound = 4 + 2 * max(workers)
        self.starting: dict[Any, tuple[int, Any]] = {}
        self.in_hand: list[dict[Any, int]] = [{} for _ in stages]
        self.calls: dict[Any, Call] = {}
        self.items: list[Item] = []
        self.failed: list[int] = []
        for stage, count in enumerate(workers):
            for _ in range(count):
                self._start_worker(stage)

    def wait_for_workers(self) -> None:
        ray.get(list(self.starting))
        for ref in list(self.starting):
            self._settle(ref)

    def run(self) -> None:
        while self.calls or any(self.queues):
            self._dispatch()
            refs = [*self.calls, *self.starting]
            ray.wait(refs, num_returns=1, fetch_local=False)
            ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0, fetch_local=False)
            for ref in ready:
                self._settle(ref)

    def stop(self) -> None:
        for worker in [worker for pool in self.in_hand for worker in pool]:
            ray.kill(worker)

    def _start_worker(self, stage: int) -> None:
        worker = Worker.remote(self.workload, stage)  # type: ignore[attr-defined]
        self.starting[worker.ready.remote()] = (stage, worker)

    def _dispatch(self) -> None:
        for stage in reversed(range(len(self.queues))):
            while self.queues[stage] and len(self.calls) < self.leases and self._has_room_after(stage):
                worker = min(self.in_hand[stage], key=self.in_hand[stage].__getitem__, default=None)
                if worker is None or self.in_hand[stage][worker] >= self.depth:
                    break
                self._call(stage, worker, self.queues[stage].popleft())

    def _has_room_after(self, stage: int) -> bool:
        return stage == self.workload.last or len(self.queues[stage + 1]) < self.bound

    def _call(self, stage: int, worker: Any, chunk: Any) -> None:
        value = [source_item(index) for index in chunk] if isinstance(chunk, range) else chunk
        result, failed = worker.run.remote(value)
        self.in_hand[stage][worker] += 1
        self.calls[failed] = Call(stage, worker, chunk, result)

    def _settle(self, ref: Any) -> None:
        if ref in self.starting:
            stage, worker = self.starting.pop(ref)
            self.in_hand[stage][worker] = 0
            return
        call = self.calls.pop(ref)
        pool = self.in_hand[call.stage]
        try:
            self.failed += ray.get(ref)
        except ray.exceptions.RayActorError:
            self.queues[call.stage].appendleft(call.chunk)
            if pool.pop(call.worker, None) is not None:
                self._start_worker(call.stage)
            return
        if call.worker in pool:
            pool[call.worker] -= 1
        if call.stage == self.workload.last:
            self.items += ray.get(call.result)
        else:
            self.queues[call.stage + 1].append(call.result)


def run(case: Case, engine: str) -> Outcome:
    del engine
    start_ray(slots_of(case.slots, stages=3), is_fresh=case.family == "e")
    with store_peak() as figures:
        begun = time.time()
        loop = Loop(case.workload, **_tuned_for(case), chunk=case.chunk)
        if case.workload.warm_up:
            loop.wait_for_workers()
        loop.run()
        ended = time.time()
    loop.stop()
    return Outcome(loop.items, begun, ended, reported=len(loop.failed), figures=figures)


def _tuned_for(case: Case) -> dict[str, Any]:
    """Return the pools that suit a case best: what an engine has to find out by itself."""
    if case.family == "c":
        # Where speeds swap, the first two stages share what they may use at a time.
        workers = (4, 4, 2) if case.workload.swapped_ms else (1, 4, 2)
        return {"workers": workers, "depth": 1, "leases": case.slots}
    if case.family == "f":
        return {"workers": (1, case.slots), "depth": 1, "leases": case.slots}
    return {"workers": (1,) * (case.workload.last + 1), "depth": 1 if case.family in "de" else 4, "leases": 1_000}


if __name__ == "__main__":
    serve(run)
