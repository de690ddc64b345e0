"""The nouns of the scheduler: steps, chunks of tasks, calls and workers, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.executors.ray.nodes import NodeResources
    from curator_core.plan.fusion import Step

__all__ = ["Call", "CallResult", "Chunk", "Held", "LossCause", "Node", "Slice", "StepSpec", "Worker", "cut"]

_GIGABYTE = 1e9


@dataclass(frozen=True)
class Held:
    """What a worker keeps for its whole life."""

    gpus: float = 0.0
    gpu_memory_gb: float = 0.0
    memory_bytes: int = 0
    custom: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __bool__(self) -> bool:
        return bool(self.gpus or self.gpu_memory_gb or self.memory_bytes or any(self.custom.values()))

    def amounts(self, gpu_gb: float | None) -> dict[str, float]:
        """Return what is held of each resource: of the GPUs, the part of one that has so much memory, if known."""
        gpus = self.gpus
        if self.gpu_memory_gb:
            gpus = self.gpu_memory_gb / gpu_gb if gpu_gb else 1.0
        amounts = {"gpu": gpus, "memory": float(self.memory_bytes), **self.custom}
        return {name: amount for name, amount in amounts.items() if amount}

    def describe(self) -> str:
        """Return the non-zero parts on one line.

        >>> Held(gpus=0.5, memory_bytes=6_000_000_000, custom={"license": 1}).describe()
        'gpus=0.5 memory_gb=6 license=1'
        """
        amounts = {"gpus": self.gpus, "gpu_memory_gb": self.gpu_memory_gb, "memory_gb": self.memory_bytes / _GIGABYTE}
        return " ".join(f"{name}={amount:g}" for name, amount in {**amounts, **self.custom}.items() if amount)


@dataclass(frozen=True)
class Node:
    """A machine that workers can be started on."""

    node_id: str
    cpus: float
    gpus: int = 0
    gpu_memory_gb: float | None = None
    memory_bytes: int = 0
    custom: Mapping[str, float] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, node: NodeResources) -> Node:
        """Return what the scheduler has to know about a node of a cluster."""
        return cls(
            node.node_id,
            cpus=node.cpus,
            gpus=int(node.gpus),
            gpu_memory_gb=node.gpu_memory_gb,
            memory_bytes=node.memory_bytes,
            custom=dict(node.custom),
        )


@dataclass(frozen=True)
class StepSpec:
    """What the scheduler knows about a step beforehand.

    Args:
        name: For messages.
        cpus: CPUs a worker leases while it has calls.
        held: What a worker keeps for its life.
        batch_size: How many tasks the step wants at once.
        min_workers: At least this many while the step has work.
        max_workers: At most this many, if limited.
        is_source: Whether it makes its own work, so that one worker does all of it.
        timeout_s: Most seconds for one task, if limited.
        max_worker_tasks: A worker is replaced when it has been sent so many tasks, if ever.
    """

    name: str
    cpus: float = 1.0
    held: Held = Held()
    batch_size: int = 1
    min_workers: int = 0
    max_workers: int | None = None
    is_source: bool = False
    timeout_s: float | None = None
    max_worker_tasks: int | None = None

    @classmethod
    def of(cls, step: Step, *, max_workers: int | None = None) -> StepSpec:
        """Return what the scheduler has to know about a step of a plan.

        Args:
            step: The step.
            max_workers: Most workers, unless its stage has its own number.
        """
        stage = step.stages[0].stage
        needs = step.resources
        fixed = stage.num_workers()
        return cls(
            name=step.name,
            cpus=needs.cpus,
            held=Held(needs.gpus, needs.gpu_memory_gb, int(needs.memory_gb * _GIGABYTE), dict(needs.custom)),
            batch_size=step.batch_size,
            min_workers=fixed or stage.min_workers or 0,
            max_workers=fixed or stage.max_workers or max_workers,
            is_source=step.is_source,
            timeout_s=step.timeout_s,
            max_worker_tasks=stage.max_calls_per_worker and stage.max_calls_per_worker * max(1, step.batch_size),
        )

    def describe(self) -> str:
        """Return what a worker needs, on one line.

        >>> StepSpec("model", cpus=2, held=Held(gpus=0.5)).describe()
        'cpus=2 gpus=0.5'
        """
        return f"cpus={self.cpus:g} {self.held.describe()}".strip()


@dataclass(eq=False, slots=True)
class Chunk:
    """Tasks that live in one object.

    ``handle`` is the shell's (an object reference); ``left`` counts the tasks whose calls are not committed yet, and
    the object may be forgotten when it reaches zero. ``made_by`` and ``offset`` say how to make the tasks again if they
    are lost; a chunk that ``is_root`` cannot be made again, because it came from the source or because what it was made
    of is not kept.
    """

    chunk_id: int
    count: int
    size_bytes: int
    handle: Any
    node_id: str | None = None
    made_by: Call | None = None
    offset: int = 0
    left: int = 0
    pins: int = 0
    is_root: bool = True

    @property
    def task_bytes(self) -> float:
        """Average size of a task."""
        return self.size_bytes / self.count if self.count else 0.0


@dataclass(eq=False, slots=True)
class Slice:
    """Some neighbouring tasks of a chunk. Never changed; not frozen only because several are made for every call."""

    chunk: Chunk
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def size_bytes(self) -> int:
        """Estimated size of the tasks; slices that make up a chunk have exactly its size together."""
        chunk = self.chunk
        return chunk.size_bytes * self.stop // chunk.count - chunk.size_bytes * self.start // chunk.count


def cut(slices: list[Slice], count: int) -> tuple[list[Slice], list[Slice]]:
    """Split off the first ``count`` tasks."""
    first: list[Slice] = []
    rest: list[Slice] = []
    for each in slices:
        here = min(len(each), count)
        if here:
            first.append(Slice(each.chunk, each.start, each.start + here))
        if here < len(each):
            rest.append(Slice(each.chunk, each.start + here, each.stop))
        count -= here
    return first, rest


CallKind = Literal["normal", "lone", "replay"]
LossCause = Literal["died", "between", "node", "timeout", "memory"]
"""Why a worker is lost: its process ended within a stage or between stages, its node did, a call took too long, or Ray
ended it to save memory."""


@dataclass(eq=False, slots=True)
class Call:
    """One call of a worker, and afterwards the record of how its outputs were made.

    Args:
        call_id: Unique in a run.
        step: Index of the step.
        inputs: The tasks to process.
        kind: ``lone`` for a task that is suspected of killing workers, ``replay`` to make a lost chunk again.
        deaths: How many workers died with the suspected task alone, in the middle of a stage.
        losses: How many were lost with it alone, wherever they were.
        cause: Why the last of them was.
        emitted: Outputs that were passed on, and counted; a repeated call leaves them out. Such a call has one input.
        target: The lost chunk that a replay makes again.
        timeouts: How often a replay took too long.
        drops_suspended: Whether its worker drops the call that was interrupted before; otherwise such a worker takes no
            other.
        tasks: Number of input tasks.
    """

    call_id: int
    step: int
    inputs: list[Slice]
    kind: CallKind = "normal"
    deaths: int = 0
    losses: int = 0
    cause: LossCause = "died"
    emitted: int = 0
    target: Chunk | None = None
    timeouts: int = 0
    drops_suspended: bool = False
    worker_id: int = -1
    started_s: float = 0.0
    service_s: float = 0.0
    expected_bytes: float = 0.0
    expected_tasks: float = 0.0
    tasks: int = field(init=False)

    def __post_init__(self) -> None:
        self.tasks = 0
        for each in self.inputs:
            self.tasks += each.stop - each.start

    @property
    def skip(self) -> int:
        """How many of its first outputs are left out."""
        return self.emitted if self.target is None else self.target.offset

    @property
    def limit(self) -> int | None:
        """How many outputs are made at most; all, where None."""
        return None if self.target is None else self.target.count

    @property
    def is_noted(self) -> bool:
        """Whether the worker leaves notes of how far it came, because the one task may end it."""
        return self.kind == "lone" and self.tasks == 1


@dataclass(slots=True)
class CallResult:
    """What a worker reports about a call, apart from the outputs themselves.

    Args:
        consumed: Input tasks that were taken; the rest was left for another call.
        outputs: Number of output tasks in this part.
        size_bytes: Size of this part.
        service_s: Time spent.
        is_done: Whether the call is over; if not, the worker waits to be resumed.
        handle: The shell's handle on the part.
        completed: Inputs all of whose outputs are in this part or in earlier ones, where the call is not over.
        open_outputs: Outputs passed on, in this part or in earlier ones, of the one input that is not complete.
    """

    consumed: int
    outputs: int = 0
    size_bytes: int = 0
    service_s: float = 0.0
    is_done: bool = True
    handle: Any = None
    node_id: str | None = None
    completed: int = 0
    open_outputs: int = 0


WorkerPhase = Literal["starting", "ready", "draining"]


@dataclass(eq=False, slots=True)
class Worker:
    """A worker of a step.

    ``calls`` are those in flight, oldest first; ``suspended`` waits for room to resume, unless the worker
    ``drops_suspended`` with its next call. A worker that ``yields_to`` a later step gets no further calls until it has
    given its CPUs back.
    """

    worker_id: int
    step: int
    node_id: str
    phase: WorkerPhase = "starting"
    calls: dict[int, Call] = field(default_factory=dict)
    suspended: Call | None = None
    drops_suspended: bool = False
    is_alone: bool = False
    yields_to: int | None = None
    gpu_share: tuple[tuple[int, float], ...] = ()
    asked_s: float = 0.0
    tasks_sent: int = 0

    @property
    def has_work(self) -> bool:
        """Whether it has a call in hand, running or interrupted."""
        return bool(self.calls) or self.suspended is not None
