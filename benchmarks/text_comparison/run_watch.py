"""Run a command and see how long it takes, and how much memory and processor time all of its processes use."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine_comparison.leftovers import MARK, new_mark, stop_leftovers

from text_comparison.program import BENCHMARKS, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_INTERVAL_S = 0.2
_KIB = 1024


class RunFailedError(Exception):
    """A command that was to be measured has failed."""


@dataclass
class Watched:
    """What was seen of a run's processes, which are known by a mark in their environment.

    ``rss`` counts pages that processes share (the object store of Ray) once for each of them, ``pss`` once in all.
    """

    mark: str
    peak_rss_bytes: int = 0
    peak_pss_bytes: int = 0
    processes: int = 0
    cpu_s: dict[int, float] = field(default_factory=dict)

    def look(self) -> None:
        rss = pss = count = 0
        for process in _marked(self.mark):
            with suppress(OSError, ValueError, KeyError):  # it has ended in the meantime
                sizes = _sizes(process)
                rss, pss, count = rss + sizes["Rss"], pss + sizes["Pss"], count + 1
                self.cpu_s[int(process.name)] = _cpu_s(process)
        self.peak_rss_bytes = max(self.peak_rss_bytes, rss)
        self.peak_pss_bytes = max(self.peak_pss_bytes, pss)
        self.processes = max(self.processes, count)


def run_watched(command: Sequence[str], *, limit_s: float = 900.0, **variables: str) -> dict[str, Any]:
    """Run a command to its end and return ``wall_s``, ``cpu_s``, ``peak_pss_mb``, ``peak_rss_mb`` and ``processes``.

    ``cpu_s`` lacks what processes did after they were last seen, so up to 0.2 s each.

    Raises:
        RunFailedError: It fails, or takes longer than the limit.
    """
    mark = new_mark()
    watched = Watched(mark[MARK])
    is_over = threading.Event()

    def watch() -> None:
        watched.look()  # at once: on a busy machine a short command may end before the next look
        while not is_over.wait(_INTERVAL_S):
            watched.look()

    watcher = threading.Thread(target=watch, daemon=True)
    with tempfile.TemporaryFile("w+") as log:
        begun = time.perf_counter()
        process = subprocess.Popen(
            list(command),
            cwd=BENCHMARKS,
            env=environment(**mark, **variables),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        watcher.start()
        try:
            code = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired as error:
            raise RunFailedError(f"{Path(command[0]).name} took more than {limit_s:.0f} s") from error
        finally:
            wall_s = time.perf_counter() - begun
            is_over.set()
            watcher.join()
            stop_leftovers(mark[MARK])
        if code:
            log.seek(0)
            lines = [line.strip() for line in log if line.strip()]
            raise RunFailedError(f"exit code {code}: {' | '.join(lines[-3:])}"[:400])
    return {
        "wall_s": round(wall_s, 2),
        "cpu_s": round(sum(watched.cpu_s.values()), 2),
        "peak_pss_mb": round(watched.peak_pss_bytes / 1e6),
        "peak_rss_mb": round(watched.peak_rss_bytes / 1e6),
        "processes": watched.processes,
    }


def _marked(mark: str) -> Iterator[Path]:
    wanted = f"{MARK}={mark}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is someone else's
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                yield process


def _sizes(process: Path) -> dict[str, int]:
    lines = (process / "smaps_rollup").read_text().splitlines()[1:]
    return {name: int(rest.split()[0]) * _KIB for name, _, rest in (line.partition(":") for line in lines)}


def _cpu_s(process: Path) -> float:
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))
