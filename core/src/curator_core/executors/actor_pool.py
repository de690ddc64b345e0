"""Run a plan stage by stage, each over the whole cluster: simple, and right for stages that want all of it."""

from __future__ import annotations

from curator_core.authoring.stage import OnError  # noqa: TC001 - read at run time when a pipeline file sets it
from curator_core.executors.streaming.executor import StreamingExecutor
from curator_core.values.errors import ConfigError

__all__ = ["ActorPoolExecutor"]


class ActorPoolExecutor(StreamingExecutor):
    """Run one stage at a time, in a pool of Ray actors that has the cluster for itself.

    This is the streaming engine in batch mode, with every stage in workers of its own. What a stage makes stays in
    Ray's object store, which spills to disk, until the next stage reads it.

    >>> ActorPoolExecutor(actors_per_stage=2, on_error="raise").actors_per_stage
    2

    Args:
        actors_per_stage: Most workers of each stage, unless it has its own number; as many as are of use unless given.
        cpus: Logical CPUs of a Ray that is started here.
        gpus: Logical GPUs of a Ray that is started here.
        address: A cluster to join, ``host:port`` or ``auto``.
        on_error: What happens to a task that keeps failing: ``quarantine``, ``raise`` or ``skip``.
        max_attempts: How often a failing call is tried.
        ignore_head_node: Run no workers on the cluster's head.
        max_failed_fraction: Fraction of a stage's rows that may fail before the run is ended with an error; any, where
            None.
        quarantine_payload: Keep the rows and tasks in quarantine, to look at and to retry.
    """

    def __init__(  # noqa: PLR0913 - the options of a run, by keyword
        self,
        actors_per_stage: int | None = None,
        *,
        cpus: int | None = None,
        gpus: int | None = None,
        address: str | None = None,
        on_error: OnError = "quarantine",
        max_attempts: int = 3,
        ignore_head_node: bool = False,
        max_failed_fraction: float | None = None,
        quarantine_payload: bool = True,
    ) -> None:
        if actors_per_stage is not None and actors_per_stage < 1:
            raise ConfigError(f"ActorPoolExecutor: actors_per_stage must be at least 1, got {actors_per_stage}")
        super().__init__(
            "batch",
            address,
            cpus=cpus,
            gpus=gpus,
            on_error=on_error,
            ignore_head_node=ignore_head_node,
            max_attempts=max_attempts,
            max_failed_fraction=max_failed_fraction,
            quarantine_payload=quarantine_payload,
            fuse=False,
            max_workers=actors_per_stage,
        )
        self.actors_per_stage = actors_per_stage
