"""Compile kernels once a machine and keep them on disk.

numba keeps compiled functions next to their source, which may be read-only, and finds out about changes of the
function's own file only. So they go to a folder of the user's cache whose name stands for all sources of this package
and the versions of Python, numba and LLVM; numba itself adds the processor.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import numba

from curator_core.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["cache_folder", "compile_once", "inlined", "kernel"]

# numba has types in some versions only.
_njit: Any = numba.njit
_settings: Any = numba.config

_logger = logging.getLogger("curator_text")
_ready: set[str] = set()
_turn = threading.RLock()


def kernel(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a function that Python calls: without the interpreter lock, and kept on disk for the next process."""
    with _turn:
        before = _settings.CACHE_DIR  # read when a function is declared to be cached
        _settings.CACHE_DIR = str(cache_folder())
        try:
            compiled: Callable[..., Any] = _njit(nogil=True, cache=True, error_model="numpy")(function)
        finally:
            _settings.CACHE_DIR = before
    return compiled


def inlined(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a function that only kernels call; it becomes part of them."""
    compiled: Callable[..., Any] = _njit(nogil=True, error_model="numpy", no_cpython_wrapper=True)(function)
    return compiled


def compile_once(name: str, use: Callable[[], object]) -> None:
    """Call ``use`` once in this process, which calls kernels, so that no two processes compile them at a time.

    The first process on a machine compiles while others wait; all others find compiled kernels and wait for nobody.
    One that is killed meanwhile leaves nothing that counts as done.

    Args:
        name: Names what is compiled.
        use: Calls the kernels with a small example.
    """
    if name in _ready:
        return
    with _turn:
        if name in _ready:
            return
        folder = cache_folder()
        done = folder / f"{hashlib.blake2b(name.encode(), digest_size=8).hexdigest()}.done"
        if done.exists():
            _use_compiled(folder, use)
        else:
            from filelock import FileLock

            with FileLock(str(folder / "compiling.lock")):
                if not done.exists():
                    _logger.info("compiling text kernels (once per machine): %s", name)
                    use()
                    done.touch()
                else:
                    _use_compiled(folder, use)
        _ready.add(name)


def _use_compiled(folder: Path, use: Callable[[], object]) -> None:
    try:
        use()
    except Exception as error:  # noqa: BLE001 - numba raises whatever unpickling a damaged file does
        # The machine went down while a file was written, say. Nothing is lost by compiling again.
        _logger.warning("compiling text kernels again: the compiled ones are damaged (%r)", error)
        for path in [*folder.rglob("*.nbi"), *folder.rglob("*.nbc")]:
            path.unlink(missing_ok=True)
        use()


@cache
def cache_folder() -> Path:
    """Return the folder for the compiled form of these very sources; it exists.

    Set ``CURATOR_CACHE_DIR`` to have it elsewhere than in the user's cache folder.
    """
    name = f"text-kernels-{_digest()}"
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


def _digest() -> str:
    digest = hashlib.blake2b(digest_size=10)
    folder = Path(__file__).parent  # numba keeps functions by the path of their source
    for part in (sys.version, sys.implementation.name, numba.__version__, llvmlite.__version__, str(folder)):
        digest.update(part.encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
