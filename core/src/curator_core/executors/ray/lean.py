"""Leave out the processes of a private Ray that nothing uses; they are half of what starting and ending it takes.

A Ray of our own has no dashboard to serve, no machines to add and no output of workers to forward, but it starts a
server, an autoscaler and a log monitor for these all the same, each a Python process of its own, waits for the first of
them, and ends them one after the other.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["only_needed_processes"]

_UNUSED = ("start_api_server", "start_monitor", "start_log_monitor")


@contextmanager
def only_needed_processes() -> Iterator[None]:
    """Start neither of the unused processes with a Ray that is started inside the block.

    Ray has no option for it, so the methods that start them are replaced meanwhile. They are private: where one has
    gone in another version of Ray, it starts what it likes and nothing else changes.
    """
    from ray._private.node import Node

    usual = {name: getattr(Node, name) for name in _UNUSED if hasattr(Node, name)}
    for name in usual:
        setattr(Node, name, _start_nothing)
    try:
        yield
    finally:
        for name, method in usual.items():
            setattr(Node, name, method)


def _start_nothing(*_: Any, **__: Any) -> None:
    """Stand in for a method that starts a process."""
