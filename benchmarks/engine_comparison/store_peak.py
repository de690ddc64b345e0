"""Watch how much shared memory the object store of a Ray on this machine has touched."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTERVAL_S = 0.1


@contextmanager
def store_peak() -> Iterator[dict[str, Any]]:
    """Yield a dictionary that holds ``peak_store_bytes`` after the block.

    The store is one sparse file in shared memory, kept open by the raylet that this process has started; what it
    takes up is what was ever in use at a time. Where there is no ``/proc`` the dictionary stays empty.
    """
    found: dict[str, Any] = {}
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(_INTERVAL_S):
            size = _store_bytes(os.getpid())
            if size:
                found["peak_store_bytes"] = max(size, found.get("peak_store_bytes", 0))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        stop.set()
        watcher.join()


def _store_bytes(driver: int) -> int:
    sizes = [
        link.stat().st_blocks * 512
        for raylet in _children(driver, "raylet")
        for link in (raylet / "fd").iterdir()
        if "plasma" in _target(link) and "/dev/shm" in _target(link)
    ]
    return max(sizes, default=0)


def _children(parent: int, command: str) -> Iterator[Path]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name, _, rest = (process / "stat").read_text().partition(")")
        except OSError:  # it has ended
            continue
        if name.endswith(f"({command}") and int(rest.split()[1]) == parent:
            yield process


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # closed in the meantime
        return ""
