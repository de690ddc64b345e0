"""Prepare a worker: its thread pools, its lease, and its machine, where it is the first of its stage there.

Only a worker that the driver counts on may put files in their place. One that is given up for lost (its call took too
long, its node does not answer) may live on for a while, and end the write that it was in after the repeated call has
written the same file. So before a file appears under its name, its worker asks whether it still has its lease. The
driver ends the lease before it repeats anything.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.executors.ray.notes import read_note, remove_note, write_note
from curator_core.files.atomic import guard_commits
from curator_core.files.private_folders import make_private_folder
from curator_core.values.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["end_lease", "forget_run", "hold_lease", "limit_thread_pools", "once_on_this_node"]

# Each library sizes its pool to the whole machine when it is first imported.
_VARIABLES = (
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "RAYON_NUM_THREADS",
)


def limit_thread_pools(cpus: float) -> None:
    """Give every library as many threads as the worker has CPUs, at least one; call it before importing them."""
    threads = str(max(1, int(cpus)))
    os.environ.update(dict.fromkeys(_VARIABLES, threads))


def hold_lease(run_id: str, worker_id: str) -> None:
    """Take the lease of this worker process, and write files from now on only while it has it.

    A worker that cannot reach Ray cannot be told that it has lost its lease, and so may not write either.
    """
    write_note(run_id, _lease(worker_id), "held")

    def check() -> None:
        try:
            is_held = read_note(run_id, _lease(worker_id)) is not None
        except Exception as error:
            raise OutputError(f"{worker_id} cannot ask Ray whether it may still write: {error}") from error
        if not is_held:
            raise OutputError(f"{worker_id} was given up for lost, and its tasks were given to another worker")

    guard_commits(check)


def end_lease(run_id: str, worker_id: str) -> None:
    """Let a worker write no more files, whether it can be reached or not."""
    remove_note(run_id, _lease(worker_id))


def once_on_this_node(run_id: str, stage_name: str, prepare: Callable[[], None]) -> None:
    """Call ``prepare`` in the first worker of a stage on this machine; the others wait until it is done.

    Where it fails, the next worker tries again.
    """
    from filelock import FileLock  # a dependency of Ray, needed by its workers only

    folder = _folder(run_id)
    make_private_folder(folder)
    name = hashlib.blake2b(stage_name.encode(), digest_size=8).hexdigest()
    with FileLock(str(folder / f"{name}.lock")):
        done = folder / f"{name}.done"
        if not done.exists():
            prepare()
            done.touch()


def forget_run(run_id: str) -> None:
    """Remove what the workers of a run left on this machine to agree."""
    shutil.rmtree(_folder(run_id), ignore_errors=True)


def _lease(worker_id: str) -> str:
    return f"lease/{worker_id}"


def _folder(run_id: str) -> Path:
    return Path(tempfile.gettempdir()) / f"curator-run-{run_id}"
