"""Parts ``language`` and ``extraction``: programs of their own, run here so that all figures are of one sitting."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from engine_comparison.environments import cache_folder

from text_comparison.program import BENCHMARKS, environment

PROGRAMS = {"language": "text_language.py", "extraction": "text_extraction.py"}
_LIMIT_S = 900.0


def measure(part: str, *, is_quick: bool) -> dict[str, Any]:
    """Return what the program of a part prints as JSON, or an error."""
    program = BENCHMARKS / PROGRAMS[part]
    if not program.exists():
        return {"error": f"there is no benchmarks/{program.name}"}
    print(f"{part}: {program.name}", file=sys.stderr, flush=True)
    work = cache_folder() / "corpora" / part
    command = [sys.executable, str(program), "--json", "--work", str(work), *(["--quick"] if is_quick else [])]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:300]}
    return dict(json.loads(done.stdout))
