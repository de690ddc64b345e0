"""Leases of workers: only a worker that the driver counts on may put files in their place.

A worker that is given up for lost (its call took too long, its node does not answer) may live on for a while, and end
the write that it was in after the repeated call has written the same file. So before a file appears under its name, its
worker asks whether it still has its lease. The driver ends the lease before it repeats anything.

Leases are kept in Ray's control store: a worker that cannot reach it cannot be told, and so may not write either.
"""

from __future__ import annotations

from curator_core.files.atomic import guard_commits
from curator_core.values.errors import OutputError

__all__ = ["end_lease", "hold_lease"]


def hold_lease(run_id: str, worker_id: str) -> None:
    """Take the lease of this worker process, and write files from now on only while it has it."""
    from ray.experimental.internal_kv import _internal_kv_get, _internal_kv_put

    key = _key(run_id, worker_id)
    _internal_kv_put(key, b"held", overwrite=True)

    def check() -> None:
        try:
            is_held = _internal_kv_get(key) is not None
        except Exception as error:
            raise OutputError(f"{worker_id} cannot ask Ray whether it may still write: {error}") from error
        if not is_held:
            raise OutputError(f"{worker_id} was given up for lost, and its tasks were given to another worker")

    guard_commits(check)


def end_lease(run_id: str, worker_id: str) -> None:
    """Let a worker write no more files, whether it can be reached or not."""
    from ray.experimental.internal_kv import _internal_kv_del

    _internal_kv_del(_key(run_id, worker_id))


def _key(run_id: str, worker_id: str) -> bytes:
    return f"curator/{run_id}/lease/{worker_id}".encode()
