"""The token that tells who may use a Ray on this machine: in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.files.private_folders import make_private_folder, why_not_own
from curator_core.values.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AUTH_MODE_VARIABLE", "make_token_private"]

AUTH_MODE_VARIABLE = "RAY_AUTH_MODE"
# Where Ray looks for the token before it looks in the home.
_TOKEN_VARIABLE = "RAY_AUTH_TOKEN"  # noqa: S105 - the name of a variable
_TOKEN_PATH_VARIABLE = "RAY_AUTH_TOKEN_PATH"  # noqa: S105 - the name of a variable
_TOKEN_BYTES = 32
_PRIVATE_FILE, _OTHERS = 0o600, 0o077


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
