"""Compile kernels once a machine and keep them on disk: for the packages whose loops numba compiles.

numba keeps compiled functions next to their source, which may be read-only, and finds out about changes of the
function's own file only. So they go to a folder of the user's cache whose name stands for all sources of a package's
kernels and the versions of Python, numba and LLVM; numba itself adds the processor.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import tempfile
import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite
import numba

from curator_core.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KernelCache", "inlined"]

# numba has types in some versions only.
_njit: Any = numba.njit
_settings: Any = numba.config
_turn = threading.RLock()


def inlined(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a function that only kernels call; it becomes part of them."""
    compiled: Callable[..., Any] = _njit(nogil=True, error_model="numpy", no_cpython_wrapper=True)(function)
    return compiled


class KernelCache:
    """The compiled kernels of a package.

    Args:
        name: Of the plugin, for the folder and the log.
        sources: Folder with the kernels; a change in any of its files makes all compile again.
    """

    def __init__(self, name: str, sources: Path) -> None:
        self._name = name
        self._sources = sources
        self._logger = logging.getLogger(f"curator_{name}")
        self._ready: set[str] = set()

    def kernel(self, function: Callable[..., object]) -> Callable[..., Any]:
        """Compile a function that Python calls: without the interpreter lock, and kept on disk for the next process."""
        with _turn:
            before = _settings.CACHE_DIR  # read when a function is declared to be cached
            _settings.CACHE_DIR = str(self.folder)
            try:
                compiled: Callable[..., Any] = _njit(nogil=True, cache=True, error_model="numpy")(function)
            finally:
                _settings.CACHE_DIR = before
        return compiled

    def compile_once(self, name: str, use: Callable[[], object]) -> None:
        """Call ``use`` once in this process, which calls kernels, so that no two processes compile them at a time.

        The first process on a machine compiles while others wait; all others find compiled kernels and wait for nobody.
        One that is killed meanwhile leaves nothing that counts as done.

        Args:
            name: Names what is compiled.
            use: Calls the kernels with a small example.
        """
        if name in self._ready:
            return
        with _turn:
            if name in self._ready:
                return
            done = self.folder / f"{hashlib.blake2b(name.encode(), digest_size=8).hexdigest()}.done"
            if done.exists():
                self._use_compiled(use)
            else:
                from filelock import FileLock

                with FileLock(str(self.folder / "compiling.lock")):
                    if not done.exists():
                        self._logger.info("compiling %s kernels (once per machine): %s", self._name, name)
                        use()
                        done.touch()
                    else:
                        self._use_compiled(use)
            self._ready.add(name)

    @cached_property
    def folder(self) -> Path:
        """The folder for the compiled form of these very sources; it exists.

        Set ``CURATOR_CACHE_DIR`` to have it elsewhere than in the user's cache folder.
        """
        name = f"{self._name}-kernels-{self._digest()}"
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

    def _use_compiled(self, use: Callable[[], object]) -> None:
        try:
            use()
        except Exception as error:  # noqa: BLE001 - numba raises whatever unpickling a damaged file does
            # The machine went down while a file was written, say. Nothing is lost by compiling again.
            self._logger.warning("compiling %s kernels again: the compiled ones are damaged (%r)", self._name, error)
            for path in [*self.folder.rglob("*.nbi"), *self.folder.rglob("*.nbc")]:
                path.unlink(missing_ok=True)
            use()

    def _digest(self) -> str:
        digest = hashlib.blake2b(digest_size=10)
        # numba keeps functions by the path of their source.
        for part in (sys.version, sys.implementation.name, numba.__version__, llvmlite.__version__, str(self._sources)):
            digest.update(part.encode())
        for path in sorted(self._sources.glob("*.py")):
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
