"""The folder in which a Ray of our own keeps its sockets, logs and spilled objects: private, and removed with it.

Ray makes ``/tmp/ray/session_…`` with permission for everyone to write, so that others could replace its sockets and
read rows that were spilled.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.values.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["private_ray_folder"]

_log = logging.getLogger(__name__)
_VARIABLE = "RAY_TMPDIR"
_SHORT = Path("/tmp")  # noqa: S108 - the folder made in it is private
_PREFIX = "ray-"
_OPEN_TO_ALL = "r"
_MAX_SOCKET_BYTES = 103
"""Longest path of a Unix socket: 107 bytes on Linux, 103 on macOS."""
_REMOVALS, _PAUSE_S = 20, 0.05


@contextmanager
def private_ray_folder() -> Iterator[Path]:
    """Yield a folder for one Ray, inside one that only this user can open; remove both after the block.

    It is made where Ray would make its own: in ``RAY_TMPDIR``, or in the system's temporary folder. After a crash it
    stays behind, closed to others, and is never used again.

    Raises:
        ClusterError: It cannot be made there.
    """
    parent = _parent()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        private = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    except OSError as error:
        raise ClusterError(
            f"cannot make a folder for Ray in {str(parent)!r}: {error.strerror}",
            fix=f"set {_VARIABLE} to a folder that you can write to",
        ) from error
    try:
        yield private / _OPEN_TO_ALL  # Ray itself opens this one to everyone
    finally:
        _remove(private)


def _parent() -> Path:
    wanted = Path(os.environ.get(_VARIABLE) or tempfile.gettempdir())
    random = "x" * 8  # of mkdtemp()
    session = f"session_2000-01-01_00-00-00_000000_{os.getpid()}"
    longest = wanted / f"{_PREFIX}{random}" / _OPEN_TO_ALL / session / "sockets" / "plasma_store"
    if os.name == "nt" or len(os.fsencode(longest)) <= _MAX_SOCKET_BYTES:
        return wanted
    _log.warning(
        "the path of %s is too long for Ray's sockets: its files, also objects that do not fit in memory, go to %s; "
        "set %s to a folder with a shorter path to have them elsewhere",
        wanted,
        _SHORT,
        _VARIABLE,
    )
    return _SHORT


def _remove(folder: Path) -> None:
    """Remove a folder in which processes that are just ending may still make files."""
    for _ in range(_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_PAUSE_S)
    _log.warning("the files of Ray in %s could not be removed", folder)
