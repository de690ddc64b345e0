"""The cases: which workload, on how many slots, by which engines, full and quick."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from engine_comparison.workload import Workload

FAMILIES = {
    "a": "three stages that do nothing, kept apart: tasks per second",
    "b": "payloads through three stages: gigabytes per second, both hops counted",
    "c": "stages of 50, 200 and 100 ms on 7 slots: throughput against the ideal of 20 tasks per second",
    "d": "1 % of the tasks raise; workers exit: tasks lost, duplicated, reported",
    "e": "a producer ten times as fast as its consumer, 4 MB a task: peak of the object store",
    "f": "a fast stage before one whose workers start slowly: time against the ideal",
    "g": "a light text pipeline of 13 stages on this machine's cores, against one process",
    "h": "thirty stages kept apart on two CPUs: seconds to the first output, for which thirty processes must start",
}
PEERS = ("xenna", "ray_data")
SLOTS = 7
SERVICE_MS = (50.0, 200.0, 100.0)
SWAPPED_MS = (200.0, 50.0, 100.0)
SIZES = {"1mb": 10**6, "16mb": 16 * 10**6}
_WARM_UP = 20


@dataclass(frozen=True)
class Case:
    """One thing to measure.

    Args:
        name: Unique name; its first letter is the family.
        engines: Who runs it, in this order.
        workload: What the stages do.
        slots: Logical CPUs (or GPUs); zero leaves it to the engine, with one for every stage where it needs that.
        is_held: Stages hold a logical GPU for life instead of sharing CPUs.
        is_fused: Stages may run in one call, where the engine can do that.
        chunk: Tasks in one call of the hand-written loop.
        peer_tasks: Fewer tasks for the engines that are slow.
        text_megabytes: Size of the corpus of the text pipeline.
        limit_s: After so many seconds an engine has failed.
    """

    name: str
    engines: tuple[str, ...]
    workload: Workload = field(default_factory=lambda: Workload(tasks=0))
    slots: int = 0
    is_held: bool = False
    is_fused: bool = False
    chunk: int = 1
    peer_tasks: int | None = None
    text_megabytes: float = 0.0
    limit_s: float = 180.0

    @property
    def family(self) -> str:
        return self.name[0]

    @property
    def ideal_per_s(self) -> float:
        """Tasks per second when every slot is busy all the time."""
        return self.slots * 1000 / sum(self.workload.service_ms)

    def on(self, engine: str) -> Case:
        """Return the case as ``engine`` runs it."""
        if self.peer_tasks is None or engine in ("ours", "raw", "local"):
            return self
        return replace(self, workload=replace(self.workload, tasks=self.peer_tasks))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Case:
        workload = {name: _frozen(value) for name, value in values["workload"].items()}
        rest = {name: _frozen(value) for name, value in values.items() if name != "workload"}
        return cls(**rest, workload=Workload(**workload))


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def full_cases() -> list[Case]:
    """Return every case, at the sizes that results are quoted for."""
    both = ("ours", "raw")
    everyone = (*both, *PEERS)
    sleepers = (*both, "xenna", "xenna_tuned", "ray_data")
    steady = Workload(1_000, SERVICE_MS)
    swap = Workload(1_000, SERVICE_MS, SWAPPED_MS)
    return [
        *_no_op(2_000, (*everyone, "ray_data_auto"), peer_tasks=2_000),
        *_no_op(20_000, (*both, "ray_data_auto"), peer_tasks=20_000),
        *_no_op(200_000, both),
        _payloads("1mb", 1_000, everyone, peer_tasks=400),
        _payloads("16mb", 200, everyone, peer_tasks=100),
        Case("c leased", sleepers, steady, SLOTS, peer_tasks=600, limit_s=300),
        Case("c held", ("ours",), steady, SLOTS, is_held=True),
        Case("c swapped leased", sleepers, swap, SLOTS, peer_tasks=600, limit_s=300),
        Case("c swapped held", ("ours",), swap, SLOTS, is_held=True),
        *_faults(1_000, everyone),
        Case("e", everyone, Workload(500, (3.0, 30.0), payload_bytes=4 * 10**6), 2),
        Case("f", everyone, Workload(500, (5.0, 200.0), setup_s=(0.0, 10.0)), SLOTS),
        Case("g fused", ("ours", "local"), is_fused=True, text_megabytes=400, limit_s=300),
        Case("g apart", ("ours",), text_megabytes=400, limit_s=300),
        Case("h", both, Workload(100, (0.0,) * 30), 2),
    ]


def quick_cases() -> list[Case]:
    """Return cases for a run of about two minutes; peers run only the first of (a), (b) and (c)."""
    both = ("ours", "raw")
    everyone = (*both, *PEERS)
    return [
        *_no_op(2_000, everyone, peer_tasks=150),
        *_no_op(20_000, both),
        _payloads("1mb", 200, everyone, peer_tasks=80),
        _payloads("16mb", 60, both),
        *_faults(200, ("ours",)),
        Case("g fused", ("ours", "local"), is_fused=True, text_megabytes=40),
        # Cases on the same slots stand together: they share a Ray.
        Case("c leased", everyone, Workload(200, SERVICE_MS), SLOTS, peer_tasks=70),
        Case("c held", ("ours",), Workload(200, SERVICE_MS), SLOTS, is_held=True),
        Case("f", ("ours",), Workload(100, (5.0, 200.0), setup_s=(0.0, 3.0)), SLOTS),
        Case("e", ("ours",), Workload(100, (3.0, 30.0), payload_bytes=4 * 10**6), 2),
        Case("h", both, Workload(20, (0.0,) * 6), 2),
    ]


def _no_op(tasks: int, engines: tuple[str, ...], peer_tasks: int | None = None) -> list[Case]:
    workload = Workload(tasks, warm_up=_WARM_UP)
    return [
        Case(f"a {tasks}", engines, workload, chunk=128, peer_tasks=peer_tasks),
        Case(f"a {tasks} fused", ("ours",), workload, is_fused=True),
    ]


def _payloads(size: str, tasks: int, engines: tuple[str, ...], peer_tasks: int | None = None) -> Case:
    workload = Workload(tasks, payload_bytes=SIZES[size], warm_up=_WARM_UP)
    return Case(f"b {size}", engines, workload, peer_tasks=peer_tasks)


def _faults(tasks: int, engines: tuple[str, ...]) -> list[Case]:
    times = (1.0, 5.0, 1.0)
    return [
        Case("d raise", engines, Workload(tasks, times, raise_every=100), limit_s=90),
        Case("d exit", engines, Workload(tasks, times, exit_every=100), limit_s=90),
    ]
