"""Prepare a worker: its thread pools, and its machine, where it is the first of its stage there."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.files.private_folders import make_private_folder

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["forget_run", "limit_thread_pools", "once_on_this_node"]

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


def _folder(run_id: str) -> Path:
    return Path(tempfile.gettempdir()) / f"curator-run-{run_id}"
