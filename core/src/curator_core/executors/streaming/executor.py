"""Run a plan on Ray, all steps at once: the default way to run on many cores, GPUs and machines."""

from __future__ import annotations

import queue
import uuid
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from curator_core.authoring.stage import OnError  # noqa: TC001 - read at run time when a pipeline file sets it
from curator_core.executors.base import Executor
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.run.source_order import in_order
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from curator_core.authoring.tasks import Task
    from curator_core.plan.plan import Plan
    from curator_core.run.state import RunState

__all__ = ["StreamingExecutor"]


class StreamingExecutor(Executor):
    """Run all steps of a plan at once, on different tasks, in pools of Ray actors.

    Starts a Ray on this machine unless it finds one to join. GPUs and memory are held by workers; CPUs are leased to
    them by the call, so that any number of stages runs on any number of cores.

    >>> StreamingExecutor(mode="batch").mode
    'batch'

    Args:
        mode: ``streaming``, or ``batch`` to finish each step before the next begins.
        address: Cluster to join (``host:port`` or ``auto``); ``RAY_ADDRESS`` unless given, else a Ray of its own.
        cpus: Logical CPUs of a Ray of its own; those of the machine unless given, at least one per GPU.
        gpus: Logical GPUs of a Ray of its own; those of the machine unless given.
        memory_limit_bytes: Bound on the bytes of tasks between steps; a quarter of the object store unless given.
        on_error: What happens to a task that keeps failing: ``quarantine``, ``raise`` or ``skip``.
        ignore_head_node: Run no workers on the cluster's head.
        max_attempts: How often a failing call is tried.
        max_failed_fraction: Fraction of a stage's rows that may fail before the run is ended with an error; any, where
            None.
        quarantine_payload: Keep the rows and tasks in quarantine, to look at and to retry.
        fuse: Run neighbouring stages that fit together in one call; each in workers of its own if not.
        max_workers: Most workers of each stage that does not have its own number; as many as are of use unless given.
        tuning: Times, sizes and bounds that the engine decides by; for experiments.
    """

    def __init__(  # noqa: PLR0913 - the options of a run, by keyword
        self,
        mode: Literal["streaming", "batch"] = "streaming",
        address: str | None = None,
        *,
        cpus: int | None = None,
        gpus: int | None = None,
        memory_limit_bytes: int | None = None,
        on_error: OnError = "quarantine",
        ignore_head_node: bool = False,
        max_attempts: int = 3,
        max_failed_fraction: float | None = None,
        quarantine_payload: bool = True,
        fuse: bool = True,
        max_workers: int | None = None,
        tuning: Tuning = Tuning(),
    ) -> None:
        if mode not in ("streaming", "batch"):
            raise ConfigError(f"StreamingExecutor: mode must be streaming or batch, got {mode!r}")
        if memory_limit_bytes is not None and memory_limit_bytes <= 0:
            raise ConfigError(f"StreamingExecutor: memory_limit_bytes must be positive, got {memory_limit_bytes}")
        if max_workers is not None and max_workers < 1:
            raise ConfigError(f"StreamingExecutor: max_workers must be at least 1, got {max_workers}")
        self.mode = mode
        self.address = address
        self.cpus = cpus
        self.gpus = gpus
        self.memory_limit_bytes = memory_limit_bytes
        super().__init__(
            on_error=on_error,
            max_attempts=max_attempts,
            max_failed_fraction=max_failed_fraction,
            quarantine_payload=quarantine_payload,
        )
        self.ignore_head_node = ignore_head_node
        self.fuse = fuse
        self.max_workers = max_workers
        self.tuning = tuning

    def stream(self, plan: Plan, tasks: Iterable[Task[Any]], state: RunState) -> Iterator[Task[Any]]:
        from curator_core.executors.ray.cluster import connect
        from curator_core.executors.ray.notes import keep_notes
        from curator_core.executors.ray.worker_setup import forget_run
        from curator_core.executors.streaming.observe.monitor import Monitor
        from curator_core.executors.streaming.shell.node_watch import NodeWatch
        from curator_core.executors.streaming.shell.reservation import Reservation
        from curator_core.executors.streaming.shell.run_loop import RunLoop
        from curator_core.executors.streaming.shell.session import prepare

        session = prepare(plan, self, state)
        log_path = None if state.directory is None else state.directory.path / "run.log"
        run_id = uuid.uuid4().hex[:12]
        if state.ledger is not None:
            state.ledger.start(len(session.steps))
        with ExitStack() as cleanup:
            cluster = cleanup.enter_context(connect(self.address, session.cpus, self.gpus, log_path))
            cleanup.callback(forget_run, run_id)
            cleanup.enter_context(keep_notes(run_id))
            nodes = session.nodes(cluster)
            reservation = Reservation(session.specs, with_cpus=not cluster.owns, tuning=self.tuning)
            cleanup.callback(reservation.close)
            nodes = reservation.take(nodes)
            ignored = {node.node_id for node in cluster.nodes} - {node.node_id for node in nodes}
            watch = NodeWatch(nodes, None if cluster.owns else reservation, ignored=ignored, tuning=self.tuning)
            events: queue.SimpleQueue[Any] = queue.SimpleQueue()
            scheduler, pool = session.open(nodes, run_id, events, reservation)
            monitor = cleanup.enter_context(Monitor(scheduler.board, state, session.steps, pipeline=plan.pipeline_name))
            is_done = False
            loop = RunLoop(
                scheduler,
                pool,
                events,
                state.sources(tasks),
                session,
                nodes=watch,
                run_id=run_id,
                on_tick=monitor.tick,
            )
            order = loop.source_order
            state.in_order = partial(in_order, place=lambda source: order.place(source) or 0)
            try:
                yield from loop.outputs()
                is_done = True
            finally:
                loop.close()
                pool.close(patience_s=self.tuning.teardown_s if is_done else self.tuning.early_end_s)
                session.report_usage(scheduler, state)

    def session(self) -> AbstractContextManager[object]:
        from curator_core.executors.ray.cluster import connect

        return connect(self.address, self.cpus, self.gpus)
