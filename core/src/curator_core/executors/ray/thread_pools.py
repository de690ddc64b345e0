"""Size the thread pools of a worker to its own CPUs."""

from __future__ import annotations

import os

__all__ = ["limit_thread_pools"]

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
