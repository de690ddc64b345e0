"""``curator run``: run a pipeline and say what became of the data."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from curator_core.cli import exit_status
from curator_core.cli.interruption import how_to_go_on, stop_on_signal
from curator_core.cli.pipeline_arguments import add_shared, load, positive
from curator_core.cli.progress import show_progress
from curator_core.cli.terminal import print_data, print_json, print_message, warning
from curator_core.executors.default import NAMED_BY_FILE, ExecutorChoice, default_here
from curator_core.values.errors import ConfigError, CuratorError
from curator_core.values.redaction import redact, redact_values

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from curator_core.executors.base import Executor
    from curator_core.pipelines.pipeline import Pipeline
    from curator_core.pipelines.pipeline_file import LoadedPipeline
    from curator_core.pipelines.workflow import Workflow
    from curator_core.registry import Registry
    from curator_core.run.result import RunResult
    from curator_core.run.state import RunState

__all__ = ["add_arguments", "run"]

_SHOWN_OUTPUTS = 3
_EXECUTOR_OPTIONS = (
    "limit",
    "threads",
    "on_error",
    "max_failed_fraction",
    "quarantine_payload",
    "address",
    "cpus",
    "gpus",
    "mode",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "pipeline", "--set")
    parser.add_argument("--limit", type=positive, metavar="N", help="read only the first N rows")
    parser.add_argument("--run-dir", metavar="DIR", help="keep plan, ledger, quarantine, dropped rows and result here")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="resume the run in --run-dir, skipping what it has finished; starts it where there is none",
    )
    parser.add_argument(
        "--resume=changed",
        dest="resume",
        action="store_const",
        const="changed",
        help="the same, and redo what is affected where pipeline or input have changed since",
    )
    parser.add_argument(
        "--existing",
        choices=("warn", "keep", "replace", "error"),
        default="warn",
        help="files of other runs in the output folder: warn about them, keep or replace them, or refuse to start",
    )
    parser.add_argument("--executor", metavar="NAME", help="run with this executor instead of the file's")
    parser.add_argument("--threads", type=positive, metavar="N", help="tasks in parallel in the local executor")
    parser.add_argument("--address", metavar="HOST:PORT", help="Ray cluster to join, or auto for one on this machine")
    parser.add_argument("--cpus", type=positive, metavar="N", help="CPUs of a Ray that is started for the run")
    parser.add_argument("--gpus", type=positive, metavar="N", help="GPUs of a Ray that is started for the run")
    parser.add_argument("--mode", choices=("streaming", "batch"), help="all stages at once, or one after the other")
    parser.add_argument(
        "--on-error", choices=("quarantine", "raise", "skip"), help="what happens to a task that keeps failing"
    )
    parser.add_argument(
        "--max-failed-fraction",
        type=float,
        metavar="FRACTION",
        help="end the run when more than this fraction of a stage's rows fails, such as 0.05",
    )
    parser.add_argument(
        "--no-quarantine-payload",
        action="store_false",
        default=None,
        dest="quarantine_payload",
        help="keep no rows and tasks in quarantine, only what is known about them",
    )
    parser.add_argument(
        "--save-dropped", action="store_true", help="keep the rows that filters drop in the run directory"
    )
    add_shared(parser, "--json")
    parser.add_argument("--quiet", "-q", action="store_true", help="show no progress and no summary")


def run(args: argparse.Namespace) -> int:
    """Run the pipeline, show progress, then the summary."""
    from curator_core.plan.plan import Plan
    from curator_core.run.run import run_plan
    from curator_core.run.run_warnings import unwritten_rows
    from curator_core.run.state import RunState

    if args.save_dropped and args.run_dir is None:
        raise ConfigError("--save-dropped needs a place to keep them", fix="add --run-dir DIR")
    loaded = load(args.pipeline, args.variables)
    named: ExecutorChoice | None = None  # what the command line says wins over what the file says
    if args.executor is not None:
        named = ExecutorChoice(args.executor, "named by --executor")
    elif loaded.executor_name is not None:
        named = ExecutorChoice(loaded.executor_name, NAMED_BY_FILE)
    executor = None if named is None else _executor(named.name, loaded, args)  # before a look at any input
    if loaded.workflow is not None:
        # Pipelines that a workflow makes as it runs are not known yet; those that the file spells out have a say.
        stages = tuple(planned for plan in loaded.check_steps() for planned in plan.stages)
        choice = named or default_here(Plan(loaded.pipeline, stages))
        return _run_workflow(loaded.workflow, executor or _executor(choice.name, loaded, args), args)
    if args.save_dropped:
        _save_dropped(loaded.pipeline)
    plan = loaded.build()
    choice = named or default_here(plan)
    executor = executor or _executor(choice.name, loaded, args)
    if named is None and not args.quiet:
        print_message(f"executor {choice.name} ({choice.reason})")
    state = RunState(args.run_dir, existing=args.existing)
    with stop_on_signal(state.stop_requested) as interruption, show_progress(state, quiet=args.quiet):
        result = run_plan(plan, executor, state=state, resume=args.resume)
    unwritten = None if result.interrupted else unwritten_rows(result, plan)
    if unwritten is not None:
        result.warnings.append(unwritten)
    if result.was_finished and not args.quiet:
        print_message(f"nothing to do: the run in {result.run_dir} is finished, {_resumed(result)} done")
    _show(result, args)
    if result.interrupted:
        print_message(how_to_go_on(args))
        return interruption.exit_code
    return exit_status.QUARANTINED if result.quarantined_count else exit_status.OK


def _run_workflow(workflow: Workflow, executor: Executor, args: argparse.Namespace) -> int:
    """Run the steps one after the other, each with its progress."""
    if args.save_dropped or args.limit is not None:
        raise ConfigError("--save-dropped and --limit are for pipelines, not for workflows", fix="leave them out")
    stop_requested = threading.Event()
    states: list[RunState] = []

    @contextmanager
    def watch(step: str, state: RunState) -> Iterator[None]:
        if stop_requested.is_set():
            raise KeyboardInterrupt
        if not args.quiet:
            print_message(f"{workflow.name}: {step}")
        state.stop_requested = stop_requested
        state.existing = args.existing
        states.append(state)
        with show_progress(state, quiet=args.quiet):
            yield

    with stop_on_signal(stop_requested) as interruption:
        try:
            result = workflow.run(executor, args.run_dir, resume=args.resume, watch=watch)
        except KeyboardInterrupt:
            print_message(how_to_go_on(args))
            return interruption.exit_code
    _show(result, args)
    return exit_status.QUARANTINED if any(state.quarantined_count for state in states) else exit_status.OK


def _show(result: Any, args: argparse.Namespace) -> None:
    """Print what a pipeline or a workflow came to."""
    from curator_core.run.result import RunResult

    if args.json:
        print_json(redact_values(result.to_dict()))
    elif not args.quiet:
        print_data(redact(_summary(result) if isinstance(result, RunResult) else result.report()))
    else:
        for each in getattr(result, "warnings", ()):  # results of workflows of plugins need not have any
            warning(each)


def _executor(name: str, loaded: LoadedPipeline, args: argparse.Namespace) -> Executor:
    from curator_core.config.executors import make_executor

    # Options in the file belong to the executor that the file names.
    options: dict[str, Any] = dict(loaded.executor_options) if name == loaded.executor_name else {}
    given = {option: value for option in _EXECUTOR_OPTIONS if (value := getattr(args, option)) is not None}
    registry = loaded.pipeline.registry
    _check_options(name, given, registry)
    return make_executor(name, {**options, **given}, registry=registry)


def _check_options(name: str, given: Mapping[str, Any], registry: Registry) -> None:
    """Refuse options of the command line that an executor does not have, and say which one does."""
    from curator_core.config.executors import executor_class, short_names
    from curator_core.parameters.signature import accepts_any_parameter, parameters_of

    executor = executor_class(name, registry)
    if accepts_any_parameter(executor):
        return

    def takes(other: str, option: str) -> bool:
        with suppress(CuratorError):  # a broken plugin is no help
            return option in parameters_of(executor_class(other, registry))
        return False

    for option in given:
        if option in parameters_of(executor):
            continue
        others = [each for each in short_names(registry) if takes(each, option)]
        raise ConfigError(
            f"--{option.replace('_', '-')}: the executor {name!r} has no such option",
            fix=f"use --executor {' or '.join(others)}" if others else "leave it out",
        )


def _save_dropped(pipeline: Pipeline) -> None:
    from curator_core.plan.planner import decompose

    pipeline.stages = [
        stage.with_(save_dropped=True) if any("save_dropped" in part.options for part in decompose(stage)) else stage
        for stage in pipeline.stages
    ]


def _summary(result: RunResult) -> str:
    lines = [result.report()]
    outputs = result.outputs
    if outputs:
        lines.append(f"{len(outputs):,} file{'s' if len(outputs) > 1 else ''} written:")
        lines.extend(f"    {path}" for path in outputs[:_SHOWN_OUTPUTS])
        if len(outputs) > _SHOWN_OUTPUTS:
            lines.append(f"    … and {len(outputs) - _SHOWN_OUTPUTS:,} more")
    if result.resumed_sources and not result.was_finished:
        lines.append(f"{_resumed(result)} had been done before")
    if result.run_dir is not None:
        lines.append(f"run directory: {result.run_dir}")
    return "\n".join(lines)


def _resumed(result: RunResult) -> str:
    count = result.resumed_sources
    return f"{count:,} source task{'' if count == 1 else 's'}"
