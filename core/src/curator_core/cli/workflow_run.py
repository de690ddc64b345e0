"""Run a workflow from the command line: its steps one after the other, each with its progress."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from curator_core.cli import exit_codes
from curator_core.cli.interruption import how_to_go_on, stop_on_signal
from curator_core.cli.progress import show_progress
from curator_core.cli.terminal import print_data, print_json, print_message, warning
from curator_core.values.errors import ConfigError
from curator_core.values.redaction import redact, redact_values

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from curator_core.executors.base import Executor
    from curator_core.pipelines.workflow import Workflow
    from curator_core.run.state import RunState

__all__ = ["run_workflow"]


def run_workflow(workflow: Workflow, executor: Executor, args: argparse.Namespace) -> int:
    """Run the steps, show progress, then what they came to."""
    if args.save_dropped or args.limit is not None:
        raise ConfigError("--save-dropped and --limit are for pipelines, not for workflows", fix="leave them out")
    stop_requested = threading.Event()
    quarantined: list[RunState] = []

    @contextmanager
    def watch(step: str, state: RunState) -> Iterator[None]:
        if stop_requested.is_set():
            raise KeyboardInterrupt
        if not args.quiet:
            print_message(f"{workflow.name}: {step}")
        state.stop_requested = stop_requested
        state.existing = args.existing
        quarantined.append(state)
        with show_progress(state, quiet=args.quiet):
            yield

    with stop_on_signal(stop_requested) as interruption:
        try:
            result: Any = workflow.run(executor, args.run_dir, resume=args.resume, watch=watch)
        except KeyboardInterrupt:
            print_message(how_to_go_on(args))
            return interruption.exit_code
    if args.json:
        print_json(redact_values(result.to_dict()))
    elif not args.quiet:
        print_data(redact(result.report()))
    else:
        for each in getattr(result, "warnings", ()):  # results of plugins need not have any
            warning(each)
    return exit_codes.QUARANTINED if any(state.quarantined_count for state in quarantined) else exit_codes.OK
