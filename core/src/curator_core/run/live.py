"""What a stage is doing at this moment, for those who watch a run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LiveStage"]


@dataclass(frozen=True)
class LiveStage:
    """One stage of a run under way, in an executor with workers.

    Args:
        step: Name of the step it is part of; the stages of a step share its workers.
        leads_step: Whether it is the first of its step; the others have no queue of their own.
        queued: Tasks that wait in front of it.
        running: Tasks in the hands of workers.
        workers: Workers that are ready.
        busy: Share of them that have something in hand, over the last second or so.
        remaining: Tasks it still has to do, about, once all the input is known.
        is_bottleneck: Whether it sets the pace of the run.
    """

    step: str
    leads_step: bool = True
    queued: int = 0
    running: int = 0
    workers: int = 0
    busy: float = 0.0
    remaining: float | None = None
    is_bottleneck: bool = False
