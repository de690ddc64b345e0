"""Close a Ray of our own to other users of the machine: the folder of its files, and the token that lets one in."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.files.private_folders import make_private_folder, why_not_own
from curator_core.values.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["AUTH_MODE_VARIABLE", "FOLDER_VARIABLE", "make_token_private", "private_ray_folder"]

_log = logging.getLogger(__name__)
AUTH_MODE_VARIABLE = "RAY_AUTH_MODE"
FOLDER_VARIABLE = "RAY_TMPDIR"
# Where Ray looks for the token before it looks in the home.
_TOKEN_VARIABLE = "RAY_AUTH_TOKEN"  # noqa: S105 - the name of a variable
_TOKEN_PATH_VARIABLE = "RAY_AUTH_TOKEN_PATH"  # noqa: S105 - the name of a variable
_TOKEN_BYTES = 32
_PRIVATE_FILE, _OTHERS = 0o600, 0o077
_SHORT = Path("/tmp")  # noqa: S108 - the folder made in it is private
_PREFIX = "ray-"
_OPEN_TO_ALL = "r"
_MAX_SOCKET_BYTES = 103
"""Longest path of a Unix socket: 107 bytes on Linux, 103 on macOS."""
_REMOVALS, _PAUSE_S = 20, 0.05


@contextmanager
def private_ray_folder() -> Iterator[Path]:
    """Yield a folder for one Ray, inside one that only this user can open; remove both after the block.

    Ray makes ``/tmp/ray/session_…`` with permission for everyone to write, so that others could replace its sockets and
    read rows that were spilled.

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
            fix=f"set {FOLDER_VARIABLE} to a folder that you can write to",
        ) from error
    try:
        yield private / _OPEN_TO_ALL  # Ray itself opens this one to everyone
    finally:
        _remove(private)


def _parent() -> Path:
    wanted = Path(os.environ.get(FOLDER_VARIABLE) or tempfile.gettempdir())
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
        FOLDER_VARIABLE,
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


def make_token_private(environment: Mapping[str, str]) -> None:
    """Make sure that nobody else on this machine can read the token of a Ray that is started.

    Ray makes ``~/.ray/auth_token`` with the permissions of any new file, which on most machines lets everyone read it.
    So it is made here before Ray looks for it, and one that Ray made earlier is closed to others. One that somebody
    else may have put there is not used.

    Args:
        environment: May name another token or file; such a file belongs to whoever made it.

    Raises:
        ClusterError: The file cannot be made or closed, or others could have written it.
    """
    if environment.get(_TOKEN_VARIABLE) or environment.get(_TOKEN_PATH_VARIABLE):
        return
    path = Path.home() / ".ray" / "auth_token"
    try:
        make_private_folder(path.parent)
        if not path.exists():
            _write_new(path, secrets.token_hex(_TOKEN_BYTES))
        # Whoever can put a token of their own there can use the Ray that is started with it.
        reason = why_not_own(path.parent.resolve()) or why_not_own(path)
        if reason is None and path.stat().st_mode & _OTHERS:
            path.chmod(_PRIVATE_FILE)
    except OSError as error:
        raise ClusterError(
            f"the token for Ray cannot be kept private in {str(path)!r}: {error.strerror}",
            fix=f"correct the permissions of the folder, or name another file in {_TOKEN_PATH_VARIABLE}",
        ) from error
    if reason is not None:
        raise ClusterError(
            f"the token for Ray in {str(path)!r} may be known to others: {reason}",
            fix=f"remove the file and run `chmod go-w {path.parent}`, or name another file in {_TOKEN_PATH_VARIABLE}",
        )


def _write_new(path: Path, token: str) -> None:
    """Write a file that is private from its first moment and appears whole; the first of several processes wins."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE_FILE)
    with os.fdopen(handle, "w") as file:
        file.write(token)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        temporary.unlink()
