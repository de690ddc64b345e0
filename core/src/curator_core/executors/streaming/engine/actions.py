"""What the scheduler asks the outside world to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.model import Call, Chunk, LossCause

__all__ = [
    "Action",
    "Deliver",
    "Forget",
    "GiveUp",
    "KillWorker",
    "PullSources",
    "ResumeCall",
    "RunCall",
    "StartWorker",
    "StopWorker",
]


@dataclass(frozen=True, slots=True)
class StartWorker:
    """Start a worker of a step on a node."""

    worker_id: int
    step: int
    node_id: str
    gpus: float


@dataclass(frozen=True, slots=True)
class StopWorker:
    """End a worker that has nothing in hand."""

    worker_id: int


@dataclass(frozen=True, slots=True)
class KillWorker:
    """End a worker whose call, begun at ``started_s``, takes too long; the answer is ``worker_lost``.

    Void if the call has come back meanwhile: its answer may have been waiting to be read.
    """

    worker_id: int
    call_id: int
    started_s: float


@dataclass(eq=False, slots=True)
class RunCall:
    """Send a call to a worker."""

    worker_id: int
    call: Call


@dataclass(frozen=True, slots=True)
class ResumeCall:
    """Let a worker resume a call that it had to interrupt."""

    worker_id: int
    call: Call


@dataclass(frozen=True, slots=True)
class PullSources:
    """Take up to ``count`` more tasks from the source; the answer is ``source_chunk`` or ``source_ended``."""

    count: int


@dataclass(frozen=True, slots=True)
class Deliver:
    """Hand outputs of the last step to the caller."""

    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Forget:
    """Drop a chunk whose tasks are all processed."""

    chunk: Chunk


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Keep the one task of a call aside, which has killed too many workers, the last one in this call."""

    call: Call
    deaths: int
    cause: LossCause


Action: TypeAlias = (
    StartWorker | StopWorker | KillWorker | RunCall | ResumeCall | PullSources | Deliver | Forget | GiveUp
)
