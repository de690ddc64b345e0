"""The token that tells who may use a Ray on this machine: in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AUTH_MODE_VARIABLE", "make_token_private"]

AUTH_MODE_VARIABLE = "RAY_AUTH_MODE"
# Where Ray looks for the token before it looks in the home.
_TOKEN_VARIABLE = "RAY_AUTH_TOKEN"  # noqa: S105 - the name of a variable
_TOKEN_PATH_VARIABLE = "RAY_AUTH_TOKEN_PATH"  # noqa: S105 - the name of a variable
_TOKEN_BYTES = 32
_PRIVATE_FILE, _PRIVATE_FOLDER, _OTHERS = 0o600, 0o700, 0o077


def make_token_private(environment: Mapping[str, str]) -> None:
    """Make sure that nobody else on this machine can read the token of a Ray that is started.

    Ray makes ``~/.ray/auth_token`` with the permissions of any new file, which on most machines lets everyone read it.
    So it is made here before Ray looks for it, and one that Ray made earlier is closed to others.

    Args:
        environment: May name another token or file; such a file belongs to whoever made it.

    Raises:
        ClusterError: The file cannot be made or closed.
    """
    if environment.get(_TOKEN_VARIABLE) or environment.get(_TOKEN_PATH_VARIABLE):
        return
    path = Path.home() / ".ray" / "auth_token"
    try:
        path.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        if path.exists():
            if path.stat().st_mode & _OTHERS:
                path.chmod(_PRIVATE_FILE)
            return
        _write_new(path, secrets.token_hex(_TOKEN_BYTES))
    except OSError as error:
        raise ClusterError(
            f"the token for Ray cannot be kept private in {str(path)!r}: {error.strerror}",
            fix=f"mend the permissions of the folder, or name another file in {_TOKEN_PATH_VARIABLE}",
        ) from error


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
