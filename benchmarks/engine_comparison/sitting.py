"""Run cases on engines, one process at a time, in turns, so that the machine's noise hits all alike."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine_comparison.environments import ENGINES, EnvironmentUnavailableError, interpreter
from engine_comparison.leftovers import MARK, new_mark, stop_leftovers
from engine_comparison.measures import middle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine_comparison.cases import Case

_START_LIMIT_S = 90.0  # importing, starting Ray
_BENCHMARKS = Path(__file__).resolve().parents[1]


@dataclass
class Sitting:
    """What came out: figures by case and engine, and why the missing ones are missing."""

    figures: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    failures: dict[str, dict[str, str]] = field(default_factory=dict)
    _runs: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)

    def run(self, cases: Sequence[Case], engines: Sequence[str], *, are_grouped: bool, times: int = 1) -> None:
        """Run all cases.

        Args:
            cases: What to run.
            engines: Who takes part.
            are_grouped: Give an engine all its cases at once, which saves starting Ray for each, instead of taking
                turns at every case.
            times: How often an engine runs a case, in turns with the others.
        """
        for group in [list(cases)] if are_grouped else [[case] for case in cases]:
            for engine in [*engines] * times:
                asked = [case.on(engine) for case in group if engine in case.engines]
                if asked:
                    self._run_engine(engine, asked)

    def _run_engine(self, engine: str, cases: list[Case]) -> None:
        try:
            python = interpreter(ENGINES[engine])
        except EnvironmentUnavailableError as error:
            self._fail(engine, cases, f"not installed: {error}")
            return
        left = {case.name: case for case in cases}
        for line in _results(python, engine, cases):
            del left[line["case"]]
            if "error" in line:
                self._fail(engine, [case for case in cases if case.name == line["case"]], line["error"])
            else:
                runs = self._runs.setdefault((line["case"], engine), [])
                runs.append(line["figures"])
                self.figures.setdefault(line["case"], {})[engine] = middle(runs)
                _tell(f"{line['case']:18} {engine:14} {_brief(line['figures'])}")
        self._fail(engine, list(left.values()), "no result: it ended early or ran out of time")

    def _fail(self, engine: str, cases: list[Case], reason: str) -> None:
        for case in cases:
            self.failures.setdefault(case.name, {})[engine] = reason
            _tell(f"{case.name:18} {engine:14} {reason}")


def _results(python: str, engine: str, cases: list[Case]) -> Iterator[dict[str, Any]]:
    """Yield the lines that an engine's program prints; it is stopped when its time is over."""
    command = [python, "-m", f"engine_comparison.{ENGINES[engine].module}", engine]
    limit_s = _START_LIMIT_S + sum(case.limit_s for case in cases)
    mark = new_mark()
    with tempfile.TemporaryFile("w+") as log:
        program = subprocess.Popen(
            [*command, json.dumps([case.to_dict() for case in cases])],
            cwd=_BENCHMARKS,
            env={**os.environ, **mark, "PYTHONPATH": _python_path()},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,  # Ctrl-C reaches this process alone, which then stops the program
        )
        watchdog = threading.Timer(limit_s, _stop, [program])
        watchdog.start()
        try:
            assert program.stdout is not None
            for line in program.stdout:
                yield json.loads(line)
            program.wait()
        finally:
            watchdog.cancel()
            _stop(program)
            stop_leftovers(mark[MARK])
        if program.returncode:
            log.seek(0)
            _tell("".join(log.readlines()[-5:]))


def _stop(program: subprocess.Popen[str]) -> None:
    """End the program where it still runs."""
    for stop in (signal.SIGINT, signal.SIGKILL):
        if program.poll() is None:
            program.send_signal(stop)
            try:
                program.wait(timeout=20)
            except subprocess.TimeoutExpired:
                continue


def _python_path() -> str:
    return os.pathsep.join(filter(None, [str(_BENCHMARKS), os.environ.get("PYTHONPATH")]))


def _brief(figures: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in figures.items() if not isinstance(value, (list, dict)))


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
