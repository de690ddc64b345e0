"""Where machine code is kept: in the user's cache, in a folder that stands for the very sources it was made from."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

from curator_core.errors import StageError

__all__ = ["code_folder"]


def code_folder() -> Path:
    """Return the folder for the machine code of these very sources; it exists.

    Set ``CURATOR_CACHE_DIR`` to have it elsewhere than in the user's cache folder.
    """
    name = f"text-code-{_digest()}"
    told = os.environ.get("CURATOR_CACHE_DIR")
    if told:
        folder = Path(told) / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return _private(Path(home) / "curator" / name)
    except (OSError, RuntimeError):  # no home, or one that cannot be written to
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
        return _private(Path(tempfile.gettempdir()) / f"curator-cache-{user}" / name)


@cache
def _digest() -> str:
    digest = hashlib.blake2b(digest_size=10)
    for part in (sys.version, sys.implementation.name, version("numba"), version("llvmlite")):
        digest.update(part.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _private(folder: Path) -> Path:
    """Make a folder that only this user can write to: what is in it is run."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} cannot be written to")
    if hasattr(os, "getuid") and {folder.parent.stat().st_uid, folder.stat().st_uid} != {os.getuid()}:
        raise StageError(f"{folder} belongs to another user", fix="set CURATOR_CACHE_DIR to a folder of your own")
    return folder
