"""What the programs of all engines share: cases come as arguments, one JSON line per case goes to stdout."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine_comparison.cases import Case
from engine_comparison.measures import measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine_comparison.measures import Outcome

    Run = Callable[[Case, str], Outcome]

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def serve(run: Run) -> None:
    """Run the cases of ``sys.argv`` (engine name, JSON list of cases) and print what was measured.

    Whatever else is printed, by Ray, by the engine or by its workers, goes to stderr.
    """
    engine, cases = sys.argv[1], [Case.from_dict(each) for each in json.loads(sys.argv[2])]
    with os.fdopen(os.dup(1), "w") as results:
        os.dup2(2, 1)
        for case in cases:
            results.write(json.dumps({"case": case.name, "engine": engine, **_attempt(run, case, engine)}) + "\n")
            results.flush()


def _attempt(run: Run, case: Case, engine: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as marks:
        case = replace(case, workload=replace(case.workload, marks=marks))
        try:
            return {"figures": measure(case, run(case, engine))}
        except Exception as error:  # noqa: BLE001 - an engine that fails is a result
            traceback.print_exc()
            return {"error": _described(error)}


def _described(error: BaseException) -> str:
    """Return what went wrong first, in one line, without Ray's colours."""
    while (cause := getattr(error, "cause", None) or error.__cause__) is not None:
        error = cause
    lines = [line.strip() for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]
