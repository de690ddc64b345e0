"""Let workers import from the driver's search path and from nowhere else.

Ray puts the current folder at the front of the search path of every worker. Whoever runs a pipeline in a folder of
downloads would then import an ``orjson.py`` that lies beside the data.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from curator_core.values.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_search_path", "driver_search_path", "make_job_config"]


def driver_search_path() -> tuple[str, ...]:
    """Return where this process finds modules, as absolute paths; Python's ``""`` is the current folder."""
    return tuple(os.path.abspath(path) for path in sys.path)  # noqa: PTH100 - strings go in and out


def make_job_config() -> Any:
    """Return the settings of a Ray job whose workers import from the driver's search path only.

    Ray adds folders to the settings just before it sends them. Those that the driver does not have are removed there:
    the folder of a script and of a notebook remain.
    """
    from ray.job_config import JobConfig

    class DriverPathOnly(JobConfig):
        def _serialize(self) -> Any:
            self._py_driver_sys_path = _known_to_the_driver(self._py_driver_sys_path)
            self._cached_pb = None
            return super()._serialize()

    return DriverPathOnly()


def check_search_path() -> None:
    """Check that the job that this process has started is one of :func:`make_job_config`.

    Raises:
        ClusterError: This version of Ray adds folders in another way.
    """
    import ray
    from ray._private.worker import global_worker

    worker: Any = global_worker
    sent = list(worker.core_worker.get_job_config().py_driver_sys_path)
    foreign = sorted(set(sent) - set(_known_to_the_driver(sent)))
    if foreign:
        raise ClusterError(
            f"workers of Ray {ray.__version__} would import modules from {', '.join(foreign)}, which is not on the "
            "search path of this process",
            fix="use another version of Ray, or start the pipeline in an empty folder",
        )


def _known_to_the_driver(folders: Iterable[str]) -> list[str]:
    known = set(driver_search_path())
    return [folder for folder in folders if os.path.abspath(folder) in known]  # noqa: PTH100 - as above
