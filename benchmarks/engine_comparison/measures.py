"""What is computed from a run: pure functions of the times at which tasks began and ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine_comparison.cases import Case
    from engine_comparison.workload import Item

SETTLED = 0.97
"""Fraction of the ideal from which on a pipeline counts as settled."""
SETTLING_S = 10.0
"""Seconds after the first output before the steady throughput is taken."""
_DRAIN = 0.95  # the last tasks of a run leave workers idle; throughput is taken up to here
_FEWEST = 20  # tasks that a throughput is taken over


@dataclass
class Outcome:
    """What an engine hands back.

    Args:
        items: The tasks that came out.
        begun: When the run was asked for, with Ray up.
        ended: When it returned.
        reported: How many tasks the engine said had failed.
        figures: Figures of its own.
    """

    items: list[Item]
    begun: float
    ended: float
    reported: int = 0
    figures: dict[str, Any] = field(default_factory=dict)


def measure(case: Case, outcome: Outcome) -> dict[str, Any]:
    """Return the figures of one run by name."""
    ends = sorted(item[2] for item in outcome.items)
    common: dict[str, Any] = {"wall_s": outcome.ended - outcome.begun}
    if case.workload.tasks:
        common = {"tasks": case.workload.tasks, **common, "first_output_s": ends[0] - outcome.begun if ends else None}
    own = {"a": _no_op, "b": _payloads, "c": _sleepers, "d": _faults, "f": _slow_start}.get(case.family)
    figures = {**common, **(own(case, outcome, ends) if own else {}), **outcome.figures}
    if case.family != "e":  # there the store is new; elsewhere it may show the peaks of earlier cases
        figures.pop("peak_store_bytes", None)
    return {name: _rounded(value) for name, value in figures.items()}


def middle(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of several runs of a case as one: medians of what is measured, the most of what is counted.

    >>> middle([{"wall_s": 3.0, "lost": 0}, {"wall_s": 1.0, "lost": 2}, {"wall_s": 2.0, "lost": 0}])
    {'wall_s': 2.0, 'lost': 2}
    """
    return {name: _middle([run[name] for run in runs if run.get(name) is not None]) for name in runs[-1]}


def _middle(values: list[Any]) -> Any:
    if all(isinstance(each, float) for each in values):
        return median(values) if values else None
    return max(values) if all(isinstance(each, int) for each in values) else values[-1]


def rate_per_s(ends: Sequence[float]) -> float | None:
    """Return tasks per second between the first and the last of these moments."""
    return (len(ends) - 1) / (ends[-1] - ends[0]) if len(ends) > 1 and ends[-1] > ends[0] else None


def seconds_to_settle(ends: Sequence[float], since: float, ideal_per_s: float) -> float | None:
    """Return how long after ``since`` the mean rate of all that follows is near the ideal; None if it never is.

    >>> seconds_to_settle([float(second) for second in range(100)], since=0.0, ideal_per_s=1.0)
    0.0
    """
    after = [end for end in ends if end >= since]
    for number in range(len(after) - _FEWEST):
        rate = rate_per_s(after[number:])
        if rate is not None and rate >= SETTLED * ideal_per_s:
            return after[number] - since
    return None


def steady_rate(ends: Sequence[float], since: float) -> float | None:
    """Return the rate from :data:`SETTLING_S` after ``since``, or from half-way where that leaves too little."""
    settled = [end for end in ends if end >= since + SETTLING_S]
    if len(settled) < 5 * _FEWEST:
        after = [end for end in ends if end >= since]
        settled = after[len(after) // 2 :]
    return rate_per_s(settled)


def warm_rate_per_s(case: Case, outcome: Outcome) -> float | None:
    """Return tasks per second from the start of the first task after the warm-up to the end of the last one.

    Not from the first output: what piles up before a stage whose workers are still starting would count as done.
    """
    warm = [item for item in outcome.items if item[0] >= case.workload.warm_up]
    if not warm:
        return None
    return len(warm) / (max(item[2] for item in warm) - min(item[1] for item in warm))


def _no_op(case: Case, outcome: Outcome, ends: Sequence[float]) -> dict[str, Any]:
    del ends
    return {
        "tasks_per_s": warm_rate_per_s(case, outcome),
        "tasks_per_s_with_start": case.workload.tasks / (outcome.ended - outcome.begun),
    }


def _payloads(case: Case, outcome: Outcome, ends: Sequence[float]) -> dict[str, Any]:
    del ends
    rate = warm_rate_per_s(case, outcome)
    return {"gb_per_s": 2 * case.workload.payload_bytes * rate / 1e9 if rate else None}


def _sleepers(case: Case, outcome: Outcome, ends: Sequence[float]) -> dict[str, Any]:
    ideal = case.ideal_per_s
    wall = outcome.ended - outcome.begun
    figures: dict[str, Any] = {"wall_of_ideal": wall * ideal / case.workload.tasks}
    phases = {"": (ends[0], ends[: int(len(ends) * _DRAIN)])}
    if case.workload.swapped_ms:
        swap = min(item[1] for item in outcome.items if item[0] >= case.workload.tasks // 2)
        phases = {"": (ends[0], [end for end in ends if end < swap]), "_after_swap": (swap, phases[""][1])}
    for phase, (since, moments) in phases.items():
        steady = steady_rate(moments, since)
        figures[f"steady_per_s{phase}"] = steady
        figures[f"steady_of_ideal{phase}"] = steady / ideal if steady else None
        figures[f"settled_s{phase}"] = seconds_to_settle(moments, since, ideal)
    return figures


def _faults(case: Case, outcome: Outcome, ends: Sequence[float]) -> dict[str, Any]:
    del ends
    seen = Counter(item[0] for item in outcome.items)
    wanted = [index for index in range(case.workload.tasks) if not case.workload.is_bad(index)]
    return {
        "lost": sum(index not in seen for index in wanted),
        "duplicated": sum(count - 1 for count in seen.values()),
        "reported": outcome.reported,
        "bad": case.workload.bad_tasks,
    }


def _slow_start(case: Case, outcome: Outcome, ends: Sequence[float]) -> dict[str, Any]:
    del ends
    slow = max(case.workload.service_ms) / 1000
    ideal = max(case.workload.setup_s) + case.workload.tasks * slow / case.slots
    return {"ideal_s": ideal, "wall_of_ideal": (outcome.ended - outcome.begun) / ideal}


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
