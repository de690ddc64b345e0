"""A Ray of the size that a case needs, kept while following cases need the same."""

from __future__ import annotations

import os
from typing import Any

# xenna lists all actors through the dashboard; the limit must be known before Ray starts.
_ENVIRONMENT = {"RAY_MAX_LIMIT_FROM_API_SERVER": "40000", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}


def start_ray(cpus: int, *, is_fresh: bool = False, **options: Any) -> None:
    """Start a Ray with so many logical CPUs in place of one of another size.

    Args:
        cpus: Logical CPUs.
        is_fresh: Also in place of one of the same size: the store of an old one shows the peaks of earlier cases.
        **options: More arguments of ``ray.init``.
    """
    import ray

    if ray.is_initialized():
        if not is_fresh and ray.cluster_resources().get("CPU") == cpus:  # type: ignore[no-untyped-call]
            return
        ray.shutdown()
    os.environ.update(_ENVIRONMENT)
    ray.init(address="local", num_cpus=cpus, **{"include_dashboard": False, "log_to_driver": False, **options})


def slots_of(case_slots: int, stages: int) -> int:
    """Return the logical CPUs for an engine that needs one for every stage.

    >>> slots_of(7, 3)
    7
    """
    return case_slots or max(os.cpu_count() or 1, stages + 1)
