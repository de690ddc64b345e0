"""Notes of which stage a suspect is in, which outlive the worker that makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.executors.ray.notes import read_note, write_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.authoring.tasks import Task
    from curator_core.call.runner import StageRunner

__all__ = ["noted_stage", "run_noting"]

_THROUGH = ""


def run_noting(runners: Sequence[StageRunner], tasks: Iterator[Task[Any]], run_id: str, call_id: int) -> Iterator[Any]:
    """Chain the stages of a step as usual, but note each stage before it runs, and the end.

    A note costs a message to another process: for calls that are expected to end their worker only.
    """

    def noting(stream: Iterator[Task[Any]], before: str | None, after: str) -> Iterator[Task[Any]]:
        while True:
            if before is not None:
                _note(run_id, call_id, before)
            task = next(stream, None)
            if task is None:
                return
            _note(run_id, call_id, after)
            yield task

    stream, before = tasks, None
    for runner in runners:
        stream = runner.run(noting(stream, before, runner.stage.name))
        before = runner.stage.name

    def ending(stream: Iterator[Task[Any]]) -> Iterator[Task[Any]]:
        yield from stream
        _note(run_id, call_id, _THROUGH)

    return ending(stream)


def noted_stage(run_id: str, call_id: int) -> str | None:
    """Return the stage that a call was in when it was last heard of; None before the first and after the last."""
    return read_note(run_id, f"call/{call_id}") or None


def _note(run_id: str, call_id: int, stage: str) -> None:
    write_note(run_id, f"call/{call_id}", stage)
