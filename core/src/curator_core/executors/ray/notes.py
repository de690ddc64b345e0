"""Short notes of a run that outlive the process that makes them, and that all its processes can read.

They are in Ray's control store. Where that cannot be used, an actor on the driver's node has them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from curator_core.executors.ray import import_ray
from curator_core.executors.ray.internals import control_store, say_missing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["keep_notes", "read_note", "remove_note", "write_note"]

_REPLY_S = 30.0


@contextmanager
def keep_notes(run_id: str) -> Iterator[None]:
    """Keep the notes of a run while a block lasts, in the driver."""
    store = control_store()
    if store is not None:
        try:
            yield
        finally:
            store["del"](_key(run_id, ""), del_by_prefix=True)
        return
    say_missing("internal_kv", "each run starts a process more, for the notes of its workers")
    ray = import_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # What is on the driver's own node is lost with the driver only.
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    options = {"name": _keeper_name(run_id), "num_cpus": 0, "scheduling_strategy": here}
    keeper = ray.remote(_NoteKeeper).options(**options).remote()
    try:
        yield
    finally:
        ray.kill(keeper)


def write_note(run_id: str, name: str, text: str) -> None:
    """Make or replace a note; it is kept when this returns."""
    _ask(run_id, "put", _key(run_id, name), text.encode())


def read_note(run_id: str, name: str) -> str | None:
    """Return a note; None where there is none.

    Raises:
        Exception: Whatever Ray raises where the notes cannot be reached.
    """
    found: bytes | None = _ask(run_id, "get", _key(run_id, name))
    return None if found is None else found.decode()


def remove_note(run_id: str, name: str) -> None:
    """Remove a note, if there is one."""
    _ask(run_id, "del", _key(run_id, name))


class _NoteKeeper:
    """The actor that takes the place of Ray's control store."""

    def __init__(self) -> None:
        self._notes: dict[bytes, bytes] = {}

    def carry_out(self, operation: str, key: bytes, value: bytes = b"") -> bytes | None:
        if operation == "get":
            return self._notes.get(key)
        self._notes.pop(key, None)
        if operation == "put":
            self._notes[key] = value
        return None


def _ask(run_id: str, operation: Literal["get", "put", "del"], *arguments: bytes) -> Any:
    store = control_store()
    if store is not None:
        return store[operation](*arguments)
    ray = import_ray()
    keeper = ray.get_actor(_keeper_name(run_id))
    return ray.get(keeper.carry_out.remote(operation, *arguments), timeout=_REPLY_S)


def _keeper_name(run_id: str) -> str:
    return f"curator-notes-{run_id}"


def _key(run_id: str, name: str) -> bytes:
    return f"curator/{run_id}/{name}".encode()
