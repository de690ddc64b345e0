"""Take a plan from its start to its result."""

from __future__ import annotations

import logging
import time
from itertools import chain
from typing import TYPE_CHECKING, Any

from curator_core.authoring.existing_output import check_nothing_exists, existing_warnings
from curator_core.authoring.stage import FinishedRun
from curator_core.authoring.tasks import EmptyTask
from curator_core.call.runner import call_hook
from curator_core.plan.planner import check_first_stage
from curator_core.run.ledger.opening import open_ledger, remove_torn, start_over
from curator_core.run.ledger.resume import in_source_order
from curator_core.run.outputs import Outputs
from curator_core.run.result import RunResult
from curator_core.run.run_warnings import loss_of_all
from curator_core.run.state import RunState
from curator_core.values.errors import ConfigError, CuratorError, StageError
from curator_core.values.stats import StatsTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from curator_core.authoring.tasks import Task
    from curator_core.executors.base import Executor
    from curator_core.plan.plan import Plan
    from curator_core.run.ledger.resume import Decision, Resume

__all__ = ["finish_stages", "run_plan", "stream_plan"]

_log = logging.getLogger(__name__)


def stream_plan(
    plan: Plan, executor: Executor, *, state: RunState, initial_tasks: Iterable[Task[Any]] | None = None
) -> Iterator[Task[Any]]:
    """Yield the outputs of a plan as they finish.

    Raises:
        PipelineError: No tasks are given, and the first stage makes none.
    """
    if initial_tasks is None:
        check_first_stage(plan)
    state.registry = plan.registry
    state.apply(executor)
    for planned in plan.stages:
        state.stats_of(planned.stage.name)
    tasks = initial_tasks if initial_tasks is not None else [EmptyTask()]
    for task in executor.stream(plan, tasks, state):
        state.note_output(task)
        yield task


def run_plan(
    plan: Plan,
    executor: Executor,
    *,
    initial_tasks: Iterable[Task[Any]] | None = None,
    state: RunState | None = None,
    resume: Resume = False,
) -> RunResult:
    """Run a plan to its end and return everything it produced and counted.

    An interruption (Ctrl-C) ends the run early; the result then says ``interrupted``. With a run directory, finished
    source tasks are recorded, and ``resume`` continues where an earlier run stopped.

    Raises:
        ResumeError: The run cannot be continued, because its pipeline or input have changed.
        PipelineError: No tasks are given, and the first stage makes none.
        ConfigError: Other runs have left files in the output folder, and that is to be an error.
    """
    state = state or RunState()
    state.registry = plan.registry
    _check_resume(resume, state, executor)
    if initial_tasks is None:
        check_first_stage(plan)
    if state.existing == "error" and not resume:  # before the ledger of an earlier run is replaced
        check_nothing_exists(plan)
    if state.directory is None or executor.is_limited:
        if state.directory is not None:
            start_over(state.directory, plan)  # the ledger too: parts of files are going to replace those it calls done
        return _run(plan, executor, state, initial_tasks, None)
    with open_ledger(state.directory, plan, initial_tasks=initial_tasks, resume=resume) as opened:
        state.ledger = opened.ledger
        for planned in plan.stages:
            state.stats_of(planned.stage.name)
        if opened.decision is not None:
            state.restore(opened.decision)
        if opened.ledger is None:
            result = _result(state, Outputs(), opened.decision, was_finished=True)
            result.warnings += _outcome_warnings(plan, result, opened.decision)
            return result
        if state.existing == "error" and resume:
            check_nothing_exists(plan, sources=opened.ledger.begun)
        return _run(plan, executor, state, initial_tasks, opened.decision)


def _run(
    plan: Plan,
    executor: Executor,
    state: RunState,
    initial_tasks: Iterable[Task[Any]] | None,
    decision: Decision | None,
) -> RunResult:
    registry = plan.registry
    directory = state.directory
    if directory is not None:
        directory.write_plan(plan)
    registry.notify("curator_run_started", plan=plan, run_dir=None if directory is None else str(directory.path))
    outputs = Outputs()
    about_existing: list[str] = []
    interrupted = is_failing = False
    try:
        try:
            outputs.extend(stream_plan(plan, executor, state=state, initial_tasks=initial_tasks))
        except KeyboardInterrupt:
            interrupted = True
        interrupted = interrupted or state.stop_requested.is_set()
        if not interrupted:
            begun = () if decision is None or state.ledger is None else state.ledger.begun
            written = chain(state.restored.paths(), outputs.paths())
            about_existing = existing_warnings(plan, written, state.existing, sources=begun)
        _close_ledger(plan, state, is_over=not interrupted)
    except BaseException:
        is_failing = True
        _keep_what_is_done(state)
        raise
    finally:
        ordered = outputs if decision is not None else state.in_order(outputs)
        result = _result(state, ordered, decision, interrupted=interrupted)
        if not (is_failing or interrupted):
            result.warnings += _outcome_warnings(plan, result, decision)
            result.warnings += about_existing
        where = None if directory is None else str(directory.path)
        ended = FinishedRun(plan.pipeline_name, run_dir=where, succeeded=not (is_failing or interrupted))
        unfinished = finish_stages(plan, ended)
        if unfinished is not None and is_failing:  # the error of the run is the one that is raised
            _log.warning("%s", unfinished.message)
        registry.notify("curator_run_finished", plan=plan, result=result)
        _write_result(state, result, is_failing=is_failing)
    if unfinished is not None:
        raise unfinished
    return result


def _outcome_warnings(plan: Plan, result: RunResult, decision: Decision | None) -> list[str]:
    loss = loss_of_all(result, plan)
    return [*([] if decision is None else decision.warnings), *([] if loss is None else [loss])]


def _write_result(state: RunState, result: RunResult, *, is_failing: bool) -> None:
    """Keep the summary; that this is impossible for a failing run, too, must not hide why it failed."""
    if state.directory is None:
        return
    try:
        state.directory.write_result(result.summary(), result.iter_outputs())
    except (CuratorError, OSError) as error:
        if not is_failing:
            raise
        _log.warning("the summary of the run could not be written: %s", error)


def _result(
    state: RunState,
    outputs: Sequence[Task[Any]],
    decision: Decision | None,
    *,
    interrupted: bool = False,
    was_finished: bool = False,
) -> RunResult:
    resumed = 0
    if decision is not None:
        resumed = len(decision.content.done)
        state.restored.extend(outputs)
        outputs = in_source_order(state.restored, decision.order)
    return RunResult(
        outputs,
        stats=StatsTable(list(state.stats.values())),
        quarantined=state.quarantined,
        quarantined_count=state.quarantined_count,
        wall_s=time.monotonic() - state.started_s,
        time_to_first_output_s=state.first_output_s,
        peak_object_store_bytes=state.peak_object_store_bytes,
        run_dir=None if state.directory is None else str(state.directory.path),
        interrupted=interrupted,
        resumed_sources=resumed,
        was_finished=was_finished,
        missing=None if decision is None else decision.missing,
    )


def _check_resume(resume: Resume, state: RunState, executor: Executor) -> None:
    if resume not in (False, True, "changed"):
        raise ConfigError(f"resume is {resume!r}", fix='use True, False or "changed"')
    if resume and state.directory is None:
        raise ConfigError("a run is continued from its run directory, and none is given", fix="add run_dir (--run-dir)")
    if resume and executor.is_limited:
        raise ConfigError(
            "a run with a limit cannot be continued: it is for trying things out, and keeps no ledger",
            fix="leave the limit or the resume out",
        )


def _close_ledger(plan: Plan, state: RunState, *, is_over: bool) -> None:
    if state.ledger is None or state.directory is None:
        return
    state.ledger.commit()
    # Processes of a run that was killed may have lived on for a moment after the clean-up at the start.
    remove_torn(state.directory, plan, state.ledger.begun)
    if is_over:
        state.ledger.finish()


def _keep_what_is_done(state: RunState) -> None:
    """Record the source tasks that a failing run has finished; an error here must not hide why the run failed."""
    try:
        if state.ledger is not None:
            state.ledger.commit()
        if state.directory is not None:
            state.directory.sync()
    except (CuratorError, OSError) as error:
        _log.warning("source tasks that were done last are not recorded: %s", error)


def finish_stages(plan: Plan, run: FinishedRun) -> StageError | None:
    """Call ``finish`` of every stage; return one error for all that could not, caused by the first."""
    messages: list[str] = []
    causes: list[Exception] = []
    for planned in plan.stages:
        try:
            call_hook(planned.stage.finish, run)
        except Exception as error:  # noqa: BLE001, PERF203 - a plugin's code may raise anything; all others get their turn
            messages.append(f"stage {planned.stage.name!r} could not finish: {type(error).__name__}: {error}")
            causes.append(error)
    if not causes:
        return None
    failure = StageError("; ".join(messages))
    failure.__cause__ = causes[0]
    return failure
