"""``curator explain``: the plan of a pipeline, without running it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from curator_core.cli.pipeline_arguments import add_shared, load
from curator_core.cli.terminal import print_data, print_json
from curator_core.executors.default import NAMED_BY_FILE, ExecutorChoice, default_here
from curator_core.values.redaction import redact, redact_values

if TYPE_CHECKING:
    import argparse

    from curator_core.plan.plan import PlannedStage

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "pipeline", "--set", "--no-inputs", "--json")


def run(args: argparse.Namespace) -> None:
    """Print the plan."""
    loaded = load(args.pipeline, args.variables)
    plan = loaded.build(check_inputs=not args.no_inputs)
    choice = default_here(plan)
    if loaded.executor_name is not None:
        choice = ExecutorChoice(loaded.executor_name, NAMED_BY_FILE)
    if args.json:
        values = {
            "name": plan.pipeline_name,
            "description": loaded.pipeline.description,
            "executor": {"name": choice.name, **loaded.executor_options},
            "executor_reason": choice.reason,
            "stages": [_stage_values(planned) for planned in plan.stages],
        }
        print_json(redact_values(values))
        return
    if loaded.pipeline.description:
        print_data(redact(loaded.pipeline.description))
    print_data(redact(plan.describe()))
    shown = redact_values(loaded.executor_options)
    options = "".join(f" {name}={value}" for name, value in shown.items())
    print_data(f"executor {choice.name}{options} ({choice.reason})")


def _stage_values(planned: PlannedStage) -> dict[str, Any]:
    return {
        "name": planned.stage.name,
        "input_type": getattr(planned.input_type, "__name__", "Any"),
        "output_type": getattr(planned.output_type, "__name__", "Any"),
        "resources": dataclasses.asdict(planned.stage.resources),
        "batch_size": planned.stage.batch_size,
        "workers": planned.stage.num_workers(),
        "reads": list(planned.reads),
        "adds": list(planned.adds),
        "columns": None if planned.columns is None else list(planned.columns),
    }
