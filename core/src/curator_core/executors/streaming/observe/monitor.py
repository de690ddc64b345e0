"""Show what a run is doing: live figures for progress displays, the event log and metrics, from the loop's ticks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from curator_core.executors.streaming.observe.events import EVENTS_FILE, EventLog, sample_interval_s
from curator_core.executors.streaming.observe.live_figures import live_stages
from curator_core.executors.streaming.observe.metrics import StageMetrics
from curator_core.executors.streaming.observe.samples import Sampler, WorkerWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from curator_core.executors.streaming.engine.board import Board
    from curator_core.plan.fusion import Step
    from curator_core.run.state import RunState

__all__ = ["Monitor"]

_LIVE_S = 0.25
_LIVE_WORKERS_PER_S = 2_500


class Monitor:
    """Watches a run of the streaming engine.

    It keeps no thread: the run loop calls :meth:`tick` as often as it likes, which is one comparison unless it is time.
    All that it reads is the scheduler's board, so a simulated run can be watched as well.

    Args:
        board: The state of the scheduler.
        state: The state of the run; its ``live`` is set here.
        steps: The steps of the plan.
        pipeline: Its name.
        clock: Tells the time, as ``state.started_s`` does.
    """

    def __init__(
        self,
        board: Board,
        state: RunState,
        steps: Sequence[Step],
        *,
        pipeline: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._board = board
        self._state = state
        self._steps = steps
        self._clock = clock
        self._sampler = Sampler()
        self._watch = WorkerWatch()
        self._metrics = StageMetrics(pipeline)
        self._log = None if state.directory is None else EventLog(state.directory.path / EVENTS_FILE)
        self._logged_records = 0
        self._next_s = 0.0
        self._next_sample_s = 0.0
        if self._log is not None:
            nodes = [{"node_id": each.node_id, "cpus": each.cpus, "gpus": each.gpus} for each in board.placement.nodes]
            self._log.run_started(clock() - state.started_s, pipeline, [_step_values(step) for step in steps], nodes)

    def tick(self) -> None:
        """Bring everything up to date if it is time."""
        now = self._clock() - self._state.started_s
        if now < self._next_s:
            return
        # Looking takes time in proportion to the workers: thousands of them are looked at less often.
        self._next_s = now + max(_LIVE_S, len(self._board.workers) / _LIVE_WORKERS_PER_S)
        self._look(now)
        if now >= self._next_sample_s:
            self._next_sample_s = now + sample_interval_s(now)
            self._sample(now)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Take the last sample and end the log: the run is over."""
        now = self._clock() - self._state.started_s
        self._look(now)
        self._sample(now)
        self._metrics.clear(list(self._state.stats))
        if self._log is not None:
            self._log.run_finished(now, self._outcome(kind), None if error is None else _one_line(error))

    def _outcome(self, kind: type[BaseException] | None) -> str:
        if kind is not None and issubclass(kind, Exception):
            return "failed"
        return "finished" if kind is None and not self._state.stop_requested.is_set() else "stopped"

    def _look(self, now: float) -> None:
        self._state.live = live_stages(self._board, self._steps, self._state.stats, self._state.live)
        if self._log is not None:
            for (step, change), nodes in self._watch.look(self._board).items():
                self._log.workers(now, self._board.steps[step].spec.name, change, nodes)

    def _sample(self, now: float) -> None:
        samples = self._sampler.take(self._state, now)
        self._metrics.update(samples)
        if self._log is None:
            return
        self._log.stages(now, samples)
        records = self._state.quarantined[self._logged_records :]
        self._logged_records += len(records)
        self._log.quarantined(now, records)


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def _step_values(step: Step) -> dict[str, Any]:
    return {
        "name": step.name,
        "stages": [planned.stage.name for planned in step.stages],
        "resources": step.resources.describe(),
    }
