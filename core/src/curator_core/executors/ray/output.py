"""Keep Ray's own messages off the terminal: into a file where one is given, else nowhere."""

from __future__ import annotations

import logging
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray.internals import messages_to
from curator_core.files.private_folders import private_opener
from curator_core.values.redaction import RedactingFormatter

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping
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
        self._messages = ExitStack()

    def enter(self, handler: logging.Handler) -> None:
        with self._lock:
            if not self._ours:
                self._usual = {name: [] for name in _LOGGERS}
                self._messages.enter_context(messages_to(_log_message))
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
        self._messages.close()


_diversion = _Diversion()


def _log_message(message: Mapping[str, Any]) -> None:
    for line in message.get("lines", ()):
        logging.getLogger("ray").warning("(%s) %s", message.get("pid"), line)
