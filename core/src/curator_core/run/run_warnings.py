"""Warnings about a run that succeeded: nothing was read, no rows are left, no stage writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from curator_core.plan.plan import Plan
    from curator_core.run.result import RunResult
    from curator_core.values.stats import StageStats

__all__ = ["loss_of_all", "unwritten_rows"]

_SHOWN = 3


def loss_of_all(result: RunResult, plan: Plan | None = None) -> str | None:
    """Return why a run has no output, where it has none and should have.

    A last stage that returns nothing may have written its rows itself, so that is no loss.

    Args:
        result: The run.
        plan: The plan that was run, to name the paths that were read.
    """
    if result.rows_out or next(result.iter_outputs(), None) is not None:
        return None
    stages = list(result.stats.values())
    losses = _losses(stages)
    if result.rows_in == 0:
        return f"no rows were read: {losses}" if losses else _nothing_read(stages, plan)
    made_by = max((number for number, stage in enumerate(stages) if stage.rows_out), default=-1)
    last = stages[min(made_by + 1, len(stages) - 1)]  # the one behind which there are no rows
    if last is stages[-1] and last.rows_in > _lost(last):
        return None
    losses = losses or f"{last.name!r} passed none of its {last.rows_in:,} on"
    return f"no rows are left of {result.rows_in:,}: {losses}"


def unwritten_rows(result: RunResult, plan: Plan) -> str | None:
    """Return that rows came out of the last stage and no stage writes them, where this is so."""
    if not result.rows_out or any(planned.stage.writes_files for planned in plan.stages):
        return None
    if next(result.iter_outputs(), None) is not None:
        return None
    rows = f"{result.rows_out:,} row{'' if result.rows_out == 1 else 's'}"
    return (
        f"{rows} came out of the last stage, {plan.stages[-1].stage.name!r}, and no stage writes them to files; "
        "end the pipeline with a writer (curator stages list --kind writer)"
    )


def _losses(stages: Sequence[StageStats]) -> str:
    """Say which stages lost most rows, and why."""
    parts = []
    for stage in sorted(stages, key=_lost, reverse=True)[:_SHOWN]:
        if stage.dropped:
            parts.append(f"{stage.name!r} dropped {stage.rows_dropped:,} ({_reasons(stage.dropped)})")
        if stage.failed:
            parts.append(f"{stage.rows_failed:,} failed in {stage.name!r} ({_reasons(stage.failed)})")
    return ", ".join(parts)


def _lost(stage: StageStats) -> int:
    return stage.rows_dropped + stage.rows_failed


def _reasons(counts: Counter[str]) -> str:
    return ", ".join(f"{reason}: {count:,}" for reason, count in counts.most_common(_SHOWN))


def _nothing_read(stages: Sequence[StageStats], plan: Plan | None) -> str:
    from curator_core.authoring.list_files import ListFiles

    if not stages or stages[0].tasks_in == 0:
        return "no tasks were given"
    paths: list[str] = []
    for planned in () if plan is None else plan.stages:
        if isinstance(planned.stage, ListFiles):
            asked = planned.stage.paths
            paths += [asked] if isinstance(asked, str) else asked
    if not paths:
        return f"no rows were read: the first stage, {stages[0].name!r}, made none"
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"no rows were read: the files in {', '.join(map(repr, paths[:_SHOWN]))}{more} are empty"
