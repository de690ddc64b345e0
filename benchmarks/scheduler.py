"""Run the scheduler of the streaming executor in virtual time: how near to the ideal it gets, and what it costs.

Nothing here needs Ray. ``scheduler_us`` is processor time of this machine, measured around every event.

    python benchmarks/scheduler.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from simulated_runs import five_stages, scale_figures, sleeper_figures, three_sleepers

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKERS = (100, 1_000, 10_000)
FULL_TASKS = {100: 20_000, 1_000: 100_000, 10_000: 1_000_000}
QUICK_TASKS = {100: 4_000, 1_000: 10_000, 10_000: 50_000}


def figures(tasks: dict[int, int]) -> dict[str, dict[str, Any]]:
    """Simulate all cases."""
    cases: dict[str, dict[str, Any]] = {}
    for is_held in (False, True):
        for is_swapped in (False, True):
            name = " ".join(["c", *(["swapped"] if is_swapped else []), "held" if is_held else "leased"])
            _say(name)
            cases[name] = sleeper_figures(three_sleepers(is_held=is_held, is_swapped=is_swapped), is_swapped=is_swapped)
    for workers in WORKERS:
        _say(scale_name(workers))
        cases[scale_name(workers)] = {"workers": workers, **scale_figures(five_stages(workers, tasks[workers]))}
    return {case: {name: _rounded(value) for name, value in each.items()} for case, each in cases.items()}


def ratios(cases: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Return the duration of each run against the ideal, and the cost of a call against that on few workers."""
    return {name: round(value, 4) for name, value in _ratios(cases)}


def scale_name(workers: int) -> str:
    return f"{workers} workers"


def _ratios(cases: dict[str, dict[str, Any]]) -> Iterator[tuple[str, float]]:
    against = ("wall_of_ideal", "steady_of_ideal", "steady_of_ideal_after_swap", "of_ideal", "of_ideal_with_ramp")
    for case, each in cases.items():
        for name in against:
            if name in each:
                yield f"{case}: {name}", each[name]
    fewest = cases[scale_name(WORKERS[0])]["scheduler_us_per_call"]
    for workers in WORKERS[1:]:
        cost = cases[scale_name(workers)]["scheduler_us_per_call"]
        yield f"scheduler_us_per_call, {workers} workers / {WORKERS[0]} workers", cost / fewest


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _text(report: dict[str, Any]) -> str:
    lines: list[str] = []
    for case, each in report["cases"].items():
        lines += [case, *(f"  {name:32}{value}" for name, value in each.items())]
    return "\n".join([*lines, "ratios", *(f"  {name:56}{value:10.4f}" for name, value in report["ratios"].items())])


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer tasks, about a minute")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    cases = figures(QUICK_TASKS if options.quick else FULL_TASKS)
    report = {"cases": cases, "ratios": ratios(cases)}
    print(json.dumps(report, indent=2) if options.json else _text(report))


if __name__ == "__main__":
    main()
