"""Where compiled code is kept: in the user's cache, in a folder that stands for the very sources it was made from."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from curator_core.errors import StageError

__all__ = ["compiled_folder"]


def compiled_folder(name: str, sources: Path) -> Path:
    """Return the folder for the compiled form of a package's kernels; it exists, and only this user can write to it.

    Set ``CURATOR_CACHE_DIR`` to have it elsewhere than in the user's cache folder.

    Args:
        name: What the folder's name begins with.
        sources: Folder with the kernels; a change in any of its files, or of the versions that compile them, makes
            another folder.
    """
    name = f"{name}-{_digest(sources)}"
    told = os.environ.get("CURATOR_CACHE_DIR")
    if told:
        folder = Path(told) / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return _private(Path(home) / "curator" / name)
    except (OSError, RuntimeError):  # no home, or one that cannot be written to
        return _private(Path(tempfile.gettempdir()) / f"curator-cache-{_user()}" / name)


def _digest(sources: Path) -> str:
    digest = hashlib.blake2b(digest_size=10)
    # numba keeps functions by the path of their source.
    for part in (sys.version, sys.implementation.name, version("numba"), version("llvmlite"), str(sources)):
        digest.update(part.encode())
    for path in sorted(sources.glob("*.py")):
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


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
