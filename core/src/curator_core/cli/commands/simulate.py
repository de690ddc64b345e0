"""``curator simulate``: what the streaming executor would do with a pipeline on machines of any number."""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
from typing import TYPE_CHECKING, Any

from curator_core.cli.pipeline_arguments import add_shared, load, positive
from curator_core.cli.terminal import columns_text, print_data, print_json
from curator_core.values.errors import ConfigError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curator_core.executors.streaming.simulate.forecast import Forecast, Machines, StepForecast
    from curator_core.plan.plan import Plan

__all__ = ["add_arguments", "run"]

_KEPT_POINTS = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "pipeline", "--set")
    machines = parser.add_argument_group("machines, all alike")
    machines.add_argument("--nodes", type=positive, default=1, metavar="N", help="how many (1)")
    machines.add_argument("--cpus", type=_more_than_zero, metavar="N", help="CPUs of each (those of this machine)")
    machines.add_argument("--gpus", type=_count, default=0, metavar="N", help="GPUs of each (0)")
    machines.add_argument("--gpu-memory-gb", type=_more_than_zero, metavar="GB", help="memory of each GPU")
    machines.add_argument("--memory-gb", type=_more_than_zero, metavar="GB", help="memory of each (not limited)")
    machines.add_argument(
        "--resource", action="append", default=[], metavar="NAME=AMOUNT", help="custom resource of each; repeatable"
    )
    work = parser.add_argument_group("work")
    work.add_argument("--tasks", type=positive, default=10_000, metavar="N", help="tasks that enter (10000)")
    work.add_argument(
        "--service-time",
        action="append",
        default=[],
        metavar="STAGE=SECONDS",
        help="time of a stage per task; of a source, per task it makes; repeatable",
    )
    work.add_argument(
        "--fan-out", action="append", default=[], metavar="STAGE=RATIO", help="tasks a stage makes of one; repeatable"
    )
    work.add_argument(
        "--boot", action="append", default=[], metavar="STAGE=SECONDS", help="set-up time of a worker; repeatable"
    )
    work.add_argument("--mode", choices=("streaming", "batch"), help="as the executor's option (that of the file)")
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> None:
    """Simulate, and print what would happen."""
    from curator_core.executors.streaming.simulate.forecast import StageTimes, foretell

    loaded = load(args.pipeline, args.variables)
    plan = loaded.build(check_inputs=False)
    names = [planned.stage.name for planned in plan.stages]
    times = StageTimes(
        service_s=_by_stage("--service-time", args.service_time, names),
        fan_out=_by_stage("--fan-out", args.fan_out, names),
        boot_s=_by_stage("--boot", args.boot, names),
    )
    machines = _machines(plan, args)
    mode = args.mode or loaded.executor_options.get("mode", "streaming")
    forecast = foretell(plan, times, machines, tasks=args.tasks, is_batch=mode == "batch")
    paced = [planned.stage.name for step in plan.steps if not step.is_source for planned in step.stages]
    assumed = [name for name in paced if name not in times.service_s]
    if args.json:
        print_json(_values(forecast, machines, mode, assumed))
    else:
        print_data(_text(forecast, machines, mode, assumed))


def _machines(plan: Plan, args: argparse.Namespace) -> Machines:
    from curator_core.executors.streaming.simulate.forecast import Machines

    for planned in plan.stages:
        resources = planned.stage.resources
        if resources.uses_gpu and not args.gpus:
            raise ConfigError(
                f"stage {planned.stage.name!r} needs {resources.describe()}, but the machines have no GPU",
                fix="add --gpus N",
            )
        if resources.gpu_memory_gb and args.gpu_memory_gb is None:
            raise ConfigError(
                f"stage {planned.stage.name!r} needs {resources.describe()}: how large are the GPUs?",
                fix="add --gpu-memory-gb GB",
            )
    given = {
        "nodes": args.nodes,
        "cpus": args.cpus or float(os.cpu_count() or 1),
        "gpus": args.gpus,
        "gpu_memory_gb": args.gpu_memory_gb,
        "memory_gb": args.memory_gb,
        "custom": dict(_pair("--resource", each) for each in args.resource),
    }
    return Machines(**{name: value for name, value in given.items() if value is not None})


def _by_stage(option: str, assignments: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    pairs = (_pair(option, each) for each in assignments)
    return {_stage_name(name, names): value for name, value in pairs}


def _pair(option: str, assignment: str) -> tuple[str, float]:
    name, _, text = assignment.rpartition("=")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not name or not math.isfinite(value) or value < 0:
        raise ConfigError(f"{option} {assignment}: expected NAME=NUMBER", fix=f"for example {option} NAME=0.05")
    return name, value


def _stage_name(name: str, names: Sequence[str]) -> str:
    """Return the stage that is meant: by its full name, or by its last part where that is unique."""
    if name in names:
        return name
    tails = [each.rpartition(".")[2] for each in names]
    if tails.count(name) == 1:
        return names[tails.index(name)]
    known = names if "." in name else [*tails, *names]
    raise UnknownNameError("stage", name, dict.fromkeys(known), fix=f"the plan has: {', '.join(names)}")


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return number


def _more_than_zero(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return number


def _values(forecast: Forecast, machines: Machines, mode: str, assumed: Sequence[str]) -> dict[str, Any]:
    from curator_core.executors.streaming.simulate.forecast import DEFAULT_SERVICE_S

    return {
        "mode": mode,
        "machines": dataclasses.asdict(machines),
        "tasks": forecast.tasks,
        "outputs": forecast.outputs,
        "throughput_per_s": forecast.outputs / forecast.makespan_s,
        "steady_throughput_per_s": forecast.steady_rate,
        "makespan_s": forecast.makespan_s,
        "ideal_makespan_s": forecast.ideal_s,
        "ideal_makespan_with_ramp_s": forecast.ideal_with_ramp_s,
        "ratio": _ratio(forecast),
        "scheduler_us_per_task": 1e6 * forecast.scheduler_s / forecast.tasks,
        "assumed_service_s": dict.fromkeys(assumed, DEFAULT_SERVICE_S),
        "steps": [{**dataclasses.asdict(step), "workers": _thinned(step.workers)} for step in forecast.steps],
    }


def _thinned(points: list[tuple[float, int]]) -> list[tuple[float, int]]:
    """Leave out points of a long series, never the last."""
    stride = math.ceil(len(points) / _KEPT_POINTS) or 1
    return points[::-1][::stride][::-1]


def _ratio(forecast: Forecast) -> float | None:
    return forecast.makespan_s / forecast.ideal_s if forecast.ideal_s else None


def _text(forecast: Forecast, machines: Machines, mode: str, assumed: Sequence[str]) -> str:
    from curator_core.executors.streaming.simulate.forecast import DEFAULT_SERVICE_S

    ratio = _ratio(forecast)
    steady = f"{forecast.steady_rate:,.1f}/s between warm-up and tail"
    lines = [
        f"{forecast.tasks:,} tasks, {mode}, on {_machines_text(machines)}",
        "",
        _steps_table(forecast.steps),
        "",
        f"throughput      {forecast.outputs / forecast.makespan_s:,.1f} outputs/s ({steady})",
        f"makespan        {forecast.makespan_s:,.1f} s",
        f"ideal makespan  {forecast.ideal_s:,.1f} s" + ("" if ratio is None else f" (ratio {ratio:.3f})"),
        f"with its ramp   {forecast.ideal_with_ramp_s:,.1f} s (until the first task is there, and behind the last)",
        f"scheduler       {1e6 * forecast.scheduler_s / forecast.tasks:,.1f} µs of processor time per task",
    ]
    if assumed:
        lines.append(
            f"assumed         {DEFAULT_SERVICE_S * 1000:g} ms per task for {', '.join(assumed)} (see --service-time)"
        )
    return "\n".join(lines)


def _machines_text(machines: Machines) -> str:
    parts = [f"{machines.cpus:g} CPUs"]
    if machines.gpus:
        size = "" if machines.gpu_memory_gb is None else f" of {machines.gpu_memory_gb:g} GB"
        parts.append(f"{machines.gpus} GPUs{size}")
    parts += [f"{amount:g} {name}" for name, amount in machines.custom.items()]
    return f"{machines.nodes:,} node{'s' if machines.nodes > 1 else ''} of {', '.join(parts)}"


def _steps_table(steps: Sequence[StepForecast]) -> str:
    columns: dict[str, Callable[[StepForecast], str]] = {
        "STEP": lambda step: step.name,
        "SECONDS": lambda step: f"{step.service_s:g}",
        "BUSY": lambda step: f"{step.busy_fraction:.1%}",
        "WORKERS": lambda step: f"{step.workers_start:,} -> {step.workers_settled:,}",
        "PEAK": lambda step: f"{step.workers_peak:,}",
        "QUEUE PEAK": lambda step: f"{step.queue_peak:,}",
    }
    return columns_text([tuple(columns), *(tuple(cell(step) for cell in columns.values()) for step in steps)])
