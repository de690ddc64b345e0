"""Compile kernels once a machine and keep them on disk: for the packages whose loops numba compiles.

numba keeps compiled functions next to their source, which may be read-only, and finds out about changes of the
function's own file only. So they go to a folder of the user's cache whose name stands for all sources of a package's
kernels and the versions of Python, numba and LLVM; numba itself adds the processor.

What is in the folder is run, and numba unpickles its index. It is used only where nobody else can have written there.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.files.private_folders import make_private_folder, why_not_own, why_not_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["KernelCache", "inlined"]

_VARIABLE = "CURATOR_CACHE_DIR"
_log = logging.getLogger(__name__)
_turn = threading.RLock()


def inlined(function: Callable[..., object]) -> Callable[..., Any]:
    """Compile a function that only kernels call; it becomes part of them.

    >>> import numba
    >>> @inlined
    ... def is_even(number):
    ...     return number % 2 == 0
    >>> numba.njit(lambda number: is_even(number))(4)
    True

    Python itself must not call it: it has no wrapper that would take Python's numbers, and the process would crash.
    """
    compiled: Callable[..., Any] = _numba().njit(nogil=True, error_model="numpy", no_cpython_wrapper=True)(function)
    return compiled


class KernelCache:
    """The compiled kernels of a package.

    >>> from pathlib import Path
    >>> cache = KernelCache("acme", Path("curator_acme/kernels"))  # then: @cache.kernel above a function

    Args:
        name: Of the plugin, for the folder and the log.
        sources: Folder with the kernels; a change in any of its files makes all compile again.
    """

    def __init__(self, name: str, sources: Path) -> None:
        self._name = name
        self._sources = sources
        self._logger = logging.getLogger(f"curator_{name}")
        self._ready: set[str] = set()
        self._has_warned = False

    def kernel(self, function: Callable[..., object]) -> Callable[..., Any]:
        """Compile a function that Python calls: without the interpreter lock, and kept on disk for the next process."""
        numba = _numba()
        with _turn:
            before = numba.config.CACHE_DIR  # read when a function is declared to be cached
            numba.config.CACHE_DIR = str(self.folder)
            try:
                compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
            finally:
                numba.config.CACHE_DIR = before
        kernel: Callable[..., Any] = compiled
        if self.folder not in Path(compiled.stats.cache_path).parents:
            # NUMBA_CACHE_LOCATOR_CLASSES says so, or numba could not write to the folder.
            self._warn_of(compiled.stats.cache_path)
            kernel = numba.njit(nogil=True, error_model="numpy")(function)
        return kernel

    def compile_once(self, name: str, use: Callable[[], object]) -> None:
        """Compile the kernels that ``use`` calls with a small example, so that no two processes compile them at a time.

        The first process on a machine compiles while others wait; all others find compiled kernels and wait for nobody.
        One that is killed meanwhile leaves nothing that counts as done. In each process, a name is used once.
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
        """The folder for the compiled form of these very sources; it exists, and only this user can write to it.

        It is in the folder that ``CURATOR_CACHE_DIR`` names, or in the user's cache; where others could write to that,
        in a private one among the temporary files.
        """
        name = f"{self._name}-kernels-{_digest(self._sources)}"
        for parent in _parents():
            folder = parent / name
            reason = _make_and_check(parent, folder)
            if reason is None:
                return folder
            _log.warning(
                "compiled kernels are not kept in %s, because %s; set %s to a folder that only you can write to",
                parent,
                reason,
                _VARIABLE,
            )
        own = tempfile.mkdtemp(prefix=f"curator-{self._name}-kernels-")
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return Path(own)

    def _warn_of(self, path: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s kernels are compiled in each process, because numba would keep them in %s, which is not checked; "
                "unset NUMBA_CACHE_LOCATOR_CLASSES",
                self._name,
                path,
            )

    def _use_compiled(self, use: Callable[[], object]) -> None:
        try:
            use()
        except Exception as error:  # noqa: BLE001 - numba raises whatever unpickling a damaged file does
            # The machine went down while a file was written, say. Nothing is lost by compiling again.
            self._logger.warning("compiling %s kernels again: the compiled ones are damaged (%r)", self._name, error)
            for path in [*self.folder.rglob("*.nbi"), *self.folder.rglob("*.nbc")]:
                path.unlink(missing_ok=True)
            use()


def _numba() -> Any:
    """Return numba, which has types in some versions only; plugins with kernels depend on it, core does not."""
    import numba

    return numba


def _parents() -> Iterator[Path]:
    told, cache = os.environ.get(_VARIABLE), os.environ.get("XDG_CACHE_HOME")
    if told:
        yield Path(told).absolute()
    else:
        with suppress(RuntimeError):  # a user without a home
            yield Path(cache or Path.home() / ".cache").absolute() / "curator"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    yield Path(tempfile.gettempdir()) / f"curator-cache-{user}"


def _make_and_check(parent: Path, folder: Path) -> str | None:
    """Make a folder for compiled code in another; return why it cannot be used, or None where it can."""
    try:
        make_private_folder(parent)
        reason = why_not_own(parent)
        if reason is not None:
            return reason
        make_private_folder(folder)
        return why_not_private(folder) or (None if os.access(folder, os.W_OK | os.X_OK) else "it is read-only")
    except OSError as error:
        return str(error)


def _digest(sources: Path) -> str:
    digest = hashlib.blake2b(digest_size=10)
    # numba keeps functions by the path of their source.
    for part in (sys.version, sys.implementation.name, version("numba"), version("llvmlite"), str(sources)):
        digest.update(part.encode())
    for path in sorted(sources.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
