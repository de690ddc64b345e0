"""A program of ``text_peers`` that was started and waits for questions."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

BENCHMARKS = Path(__file__).resolve().parents[1]
ONE_THREAD = dict.fromkeys(
    ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1"
)


class Program:
    """A process that answers questions, as :func:`text_peers.serving.serve` does.

    Args:
        python: The interpreter of its environment.
        module: What it runs.
        arguments: Its arguments.
    """

    def __init__(self, python: str, module: str, arguments: Sequence[str] = ()) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed on exit
        self._process = subprocess.Popen(
            [python, "-m", module, *arguments],
            cwd=BENCHMARKS,
            env=environment(**ONE_THREAD),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def ask(self, **question: Any) -> dict[str, Any]:
        """Return its answer; a program that has ended answers with an error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return dict(json.loads(line)) if line else {"error": self._last_words()}

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = [line.strip() for line in self._log if line.strip()]
        return f"it ended: {lines[-1] if lines else 'no message'}"[:200]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


def environment(**variables: str) -> dict[str, str]:
    """Return the environment of a program: this folder can be imported from, and compiled modules are kept.

    Those of an installed package come compiled, as the peers' do; curator runs from its sources here.
    """
    path = os.pathsep.join(filter(None, [str(BENCHMARKS), os.environ.get("PYTHONPATH")]))
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPATH": path, **variables}
