"""What stages do in the driver when a run has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from curator_core.plan.plan import Plan

__all__ = ["finish_stages"]


def finish_stages(plan: Plan) -> StageError | None:
    """Call ``finish`` of every stage; return one error for all that could not, caused by the first."""
    messages: list[str] = []
    causes: list[Exception] = []
    for planned in plan.stages:
        try:
            planned.stage.finish()
        except Exception as error:  # noqa: BLE001, PERF203 - a plugin's code may raise anything; all others get their turn
            messages.append(f"stage {planned.stage.name!r} could not finish: {type(error).__name__}: {error}")
            causes.append(error)
    if not causes:
        return None
    failure = StageError("; ".join(messages))
    failure.__cause__ = causes[0]
    return failure
