"""Notes of which stage a suspect is in, kept where they outlive the worker that makes them.

Ray's control store is the only such place on every node; its interface for Python is marked experimental.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.authoring.tasks import Task
    from curator_core.call.runner import StageRunner

__all__ = ["forget_notes", "noted_stage", "run_noting"]

_THROUGH = ""


def run_noting(runners: Sequence[StageRunner], tasks: Iterator[Task[Any]], run_id: str, call_id: int) -> Iterator[Any]:
    """Chain the stages of a step as usual, but note each stage before it runs, and the end.

    A note costs a message to Ray's control store: for calls that are expected to end their worker only.
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
    from ray.experimental.internal_kv import _internal_kv_get

    name = _internal_kv_get(_key(run_id, call_id))
    return name.decode() or None if name else None


def forget_notes(run_id: str) -> None:
    """Remove the notes of a run."""
    from ray.experimental.internal_kv import _internal_kv_del

    _internal_kv_del(_prefix(run_id), del_by_prefix=True)


def _note(run_id: str, call_id: int, stage: str) -> None:
    from ray.experimental.internal_kv import _internal_kv_put

    _internal_kv_put(_key(run_id, call_id), stage.encode(), overwrite=True)


def _prefix(run_id: str) -> bytes:
    return f"curator/{run_id}/".encode()


def _key(run_id: str, call_id: int) -> bytes:
    return _prefix(run_id) + str(call_id).encode()
