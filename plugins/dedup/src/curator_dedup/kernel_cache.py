"""Compile kernels once a machine and keep them on disk: for the packages whose loops numba compiles.

numba keeps compiled functions next to their source, which may be read-only, and finds out about changes of the
function's own file only. So they go to a folder of the user's cache whose name stands for all sources of a package's
kernels and the versions of Python, numba and LLVM; numba itself adds the processor.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numba

from curator_dedup.compiled_folder import compiled_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
        """The folder for the compiled form of these very sources; it exists."""
        return compiled_folder(f"{self._name}-kernels", self._sources)

    def _use_compiled(self, use: Callable[[], object]) -> None:
        try:
            use()
        except Exception as error:  # noqa: BLE001 - numba raises whatever unpickling a damaged file does
            # The machine went down while a file was written, say. Nothing is lost by compiling again.
            self._logger.warning("compiling %s kernels again: the compiled ones are damaged (%r)", self._name, error)
            for path in [*self.folder.rglob("*.nbi"), *self.folder.rglob("*.nbc")]:
                path.unlink(missing_ok=True)
            use()
