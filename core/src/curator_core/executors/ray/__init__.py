"""What executors on Ray share: connecting to it, what its machines have, and sending stages to its workers."""

from __future__ import annotations

from typing import Any

from curator_core.values.errors import MissingPackageError

__all__ = ["import_ray"]


def import_ray() -> Any:
    """Return the ray package.

    Raises:
        MissingPackageError: It is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingPackageError("this executor", package="ray", pip="ray") from error
    return ray
