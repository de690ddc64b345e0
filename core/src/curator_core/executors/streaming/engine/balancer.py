"""How many workers each step gets: the split of scarce resources that makes the slowest step fastest."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from curator_core.executors.streaming.engine.model import StepSpec

__all__ = [
    "UNLIMITED_WORKERS",
    "Demand",
    "LeaseShare",
    "grow",
    "leased_shares",
    "solve",
    "throughput",
    "worker_limits",
]

UNLIMITED_WORKERS = 1_000_000

_SLACK = 1e-6


@dataclass(frozen=True)
class Demand:
    """What a step needs.

    Args:
        work_s: Seconds of one worker per task that enters the pipeline.
        amounts: What a worker holds, by resource.
        low: Fewest workers.
        high: Most workers.
    """

    work_s: float
    amounts: Mapping[str, float] = field(default_factory=dict)
    low: int = 1
    high: int = UNLIMITED_WORKERS


def worker_limits(spec: StepSpec, cpus: float) -> tuple[int, int]:
    """Return the fewest and the most workers of a step: no more than can have a CPU at a time, one for a source."""
    low = max(1, spec.min_workers)
    high = UNLIMITED_WORKERS if spec.max_workers is None else spec.max_workers
    if spec.cpus:
        high = min(high, math.floor(cpus / spec.cpus + _SLACK))
    return low, max(low, 1 if spec.is_source else high)


def throughput(demands: Sequence[Demand], workers: Sequence[int]) -> float:
    """Return the pipeline's rate: that of its slowest step."""
    rates = (count / each.work_s for each, count in zip(demands, workers, strict=True) if each.work_s > 0)
    return min(rates, default=math.inf)


def solve(demands: Sequence[Demand], capacity: Mapping[str, float]) -> list[int]:
    """Return workers per step that maximise the rate of the slowest step.

    Giving one worker at a time to whichever step is slowest is the best that whole numbers allow. The closed form, the
    rate if workers were divisible, gives a start that every best split has reached, so that few are left to give.

    >>> stages = [Demand(0.25, {"gpu": 1}), Demand(1.0, {"gpu": 1}), Demand(0.5, {"gpu": 1})]
    >>> solve(stages, {"gpu": 7})
    [1, 4, 2]
    """
    rate = _certain_rate(demands, capacity)
    counts = [max(each.low, min(each.high, math.ceil(rate * each.work_s - _SLACK))) for each in demands]
    left = {
        name: amount - sum(count * each.amounts.get(name, 0.0) for each, count in zip(demands, counts, strict=True))
        for name, amount in capacity.items()
    }
    _shrink(demands, counts, left)

    def take(index: int) -> bool:
        amounts = demands[index].amounts
        if any(left.get(name, 0.0) + _SLACK < amount for name, amount in amounts.items()):
            return False
        for name, amount in amounts.items():
            left[name] -= amount
        return True

    return grow(demands, counts, take)


def grow(demands: Sequence[Demand], counts: list[int], take: Callable[[int], bool]) -> list[int]:
    """Give one worker at a time to the slowest step until there is no room for any.

    Args:
        demands: What the steps need.
        counts: The workers they have; changed in place.
        take: Takes room for a worker of a step; returns False if there is none.
    """
    slowest = [
        (counts[index] / each.work_s, index)
        for index, each in enumerate(demands)
        if each.work_s > 0 and any(each.amounts.values())
    ]
    heapq.heapify(slowest)
    while slowest:
        _, index = heapq.heappop(slowest)
        each = demands[index]
        if counts[index] >= each.high or not take(index):
            continue  # it stays the slowest, but others may still help to drain what is left over
        counts[index] += 1
        heapq.heappush(slowest, (counts[index] / each.work_s, index))
    return counts


@dataclass(frozen=True)
class LeaseShare:
    """What a step that leases CPUs should have.

    Args:
        workers: Workers to have ready: those that it keeps busy, and a little more. One without calls occupies no CPU.
        busy: Workers that it keeps busy on average, a fraction.
    """

    workers: int
    busy: float


def leased_shares(
    demands: Sequence[Demand], cpus: float, *, headroom: float, rate_cap: float = math.inf
) -> list[LeaseShare]:
    """Return what steps that lease CPUs should have so that all of them get on equally fast.

    Args:
        demands: What the steps need.
        cpus: The CPUs there are for them.
        headroom: Workers to have ready for each one that is kept busy.
        rate_cap: The most tasks per second that other steps let through.
    """
    needed = sum(each.work_s * each.amounts.get("cpu", 0.0) for each in demands)
    rate = min(rate_cap, cpus / needed if needed > 0 else math.inf)
    shares = []
    for each in demands:
        max_workers = max(1, math.floor(cpus / each.amounts["cpu"] + _SLACK)) if each.amounts.get("cpu") else each.high
        busy = float(max_workers) if math.isinf(rate) else rate * each.work_s
        wanted = max_workers if math.isinf(rate) else math.ceil(headroom * busy - _SLACK)
        shares.append(LeaseShare(max(each.low, min(each.high, max_workers, max(1, wanted))), min(busy, each.high)))
    return shares


def _certain_rate(demands: Sequence[Demand], capacity: Mapping[str, float]) -> float:
    """Return a rate that can be had for sure: that of divisible workers, if each step rounds up by one worker."""
    rate = math.inf
    for name, amount in capacity.items():
        needed = sum(each.work_s * each.amounts.get(name, 0.0) for each in demands)
        rounding = sum(each.amounts.get(name, 0.0) for each in demands)
        if needed > 0:
            rate = min(rate, max(0.0, amount - rounding) / needed)
    return rate if math.isfinite(rate) else 0.0


def _shrink(demands: Sequence[Demand], counts: list[int], left: dict[str, float]) -> None:
    """Take workers away while the lower bounds of some steps have used more than there is."""
    while any(amount < -_SLACK for amount in left.values()):
        short = {name for name, amount in left.items() if amount < -_SLACK}
        candidates = [
            (counts[index] / each.work_s if each.work_s > 0 else math.inf, index)
            for index, each in enumerate(demands)
            if counts[index] > each.low and any(each.amounts.get(name) for name in short)
        ]
        if not candidates:
            return
        _, index = max(candidates)
        counts[index] -= 1
        for name, amount in demands[index].amounts.items():
            left[name] = left.get(name, 0.0) + amount
