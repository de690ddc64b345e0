"""Keep Ray's own messages off the terminal: into a file where one is given, else nowhere."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from curator_core.files.private_folders import private_opener
from curator_core.values.redaction import RedactingFormatter

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from io import TextIOWrapper

__all__ = ["quiet_ray"]

_LOGGERS = ("ray", "ray.data")
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


@contextmanager
def quiet_ray(log_path: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Divert what Ray says in this process.

    Ray's logger and its printed cluster messages belong to the whole process, so runs that overlap share the
    diversion: it ends with the last of them, and the files of all of them get every message.
    """
    handler: logging.Handler = logging.NullHandler() if log_path is None else _PrivateFile(log_path, delay=True)
    handler.setFormatter(RedactingFormatter(_FORMAT))
    handler.setLevel(logging.INFO)
    _diversion.enter(handler)
    try:
        yield
    finally:
        _diversion.leave(handler)
        handler.close()


class _PrivateFile(logging.FileHandler):
    """A log that others cannot read: errors of workers quote rows."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=private_opener)


class _Diversion:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ours: list[logging.Handler] = []
        self._usual: dict[str, list[logging.Handler]] = {}
        self._usual_print: Any = None

    def enter(self, handler: logging.Handler) -> None:
        with self._lock:
            if not self._ours:
                self._usual = {name: [] for name in _LOGGERS}
                self._usual_print = _replace_print()
            self._ours.append(handler)
            logging.getLogger(_LOGGERS[0]).addHandler(handler)
            self._set_aside()

    def leave(self, handler: logging.Handler) -> None:
        with self._lock:
            self._ours.remove(handler)
            logging.getLogger(_LOGGERS[0]).removeHandler(handler)
            if not self._ours:
                self._restore()

    def _set_aside(self) -> None:
        """Take Ray's own handlers away, also those that a part of Ray made when it was imported meanwhile."""
        for name in _LOGGERS:
            logger = logging.getLogger(name)
            self._usual[name] += [each for each in logger.handlers if each not in self._ours]
            logger.handlers[:] = [each for each in logger.handlers if each in self._ours]
            logger.propagate = name != _LOGGERS[0]  # what the others log arrives at the first, and goes no further

    def _restore(self) -> None:
        for name, handlers in self._usual.items():
            logger = logging.getLogger(name)
            logger.handlers += handlers
            logger.propagate = not handlers  # as Ray sets it for loggers with handlers of their own
        _restore_print(self._usual_print)


_diversion = _Diversion()


def _replace_print() -> Any:
    """Send the raylet's messages to Ray's logger; Ray prints them on standard output, which belongs to data."""
    import ray._private.worker as ray_worker

    usual = getattr(ray_worker, "print_to_stdstream", None)

    def log_lines(data: dict[str, Any], *_: Any, **__: Any) -> None:
        for line in data.get("lines", ()):
            logging.getLogger("ray").warning("(%s) %s", data.get("pid"), line)

    if usual is not None:  # private to Ray: where it is gone, messages are printed and nothing else is lost
        ray_worker.print_to_stdstream = log_lines
    return usual


def _restore_print(usual: Any) -> None:
    import ray._private.worker as ray_worker

    if usual is not None:
        ray_worker.print_to_stdstream = usual
