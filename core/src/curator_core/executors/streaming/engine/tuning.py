"""The numbers that the streaming engine decides by, each with the reason for its default."""

from __future__ import annotations

from dataclasses import dataclass, fields

from curator_core.values.errors import ConfigError

__all__ = ["Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """Times, sizes and bounds of the streaming engine. The defaults were measured; to change one is an experiment.

    >>> Tuning(call_limit_s=2.0).call_limit_s
    2.0
    """

    # Calls
    call_target_s: float = 0.01
    """Duration that the first calls are sized for: long against the two milliseconds that a call costs."""
    long_call_target_s: float = 0.42
    """Duration that the calls of a long run are sized for: a little below ``call_limit_s``, since tasks differ."""
    call_target_fraction: float = 0.1
    """Fraction of the time so far that a call lasts: who has run for long runs on for long, and drains late anyway."""
    call_limit_s: float = 0.5
    """A call that takes longer, because its tasks have become slow, leaves the rest of them to others."""
    max_call_tasks: int = 16_384
    """More tasks in a call save nothing."""
    max_call_bytes: int = 16 << 20
    """Bytes that a call takes, where queues are large enough: what a worker holds at a time."""
    max_call_growth: int = 16
    """Factor by which calls grow at once: thousands of tasks are reached within a few calls."""
    min_call_s: float = 0.015
    """Shorter calls cost more than they do: while more tasks are to come, they wait for those."""
    min_call_at_end_s: float = 0.002
    """The same when no more tasks come: steps further down wait for these."""
    short_call_s: float = 0.01
    """Below this a worker has four calls in flight: the way to it and back takes a fifth of a call."""
    prefetch_limit_s: float = 0.5
    """From this on a worker gets no call ahead: waiting for the next one is nothing to a long call."""
    long_call_s: float = 0.1
    """Behind a running call of this length there is time to wait until the next one is nearly full."""
    min_prefetched_fraction: float = 0.75
    """Part of a full call that one behind a long call must have."""
    size_tolerance: float = 0.95
    """Speeds and sizes that differ by a smaller factor leave calls as they are."""
    max_part_bytes: int = 16 << 20
    """Outputs of a call that are passed on together: what a worker holds at a time."""
    min_part_bytes: int = 1 << 20
    """The same under a small memory limit: smaller parts cost more than they do."""

    # Queues
    store_fraction: float = 0.25
    """Part of the object store that tasks between steps take, unless a limit is given: the rest is for calls."""
    calls_in_queue: int = 16
    """Calls that fill a queue: those under way, and what the store has yet to free, are not to fill it alone."""
    queue_rounds: int = 3
    """Calls for each worker on either side of a queue that may wait in it: one running, one next, one to spare."""
    inline_bytes: int = 64 << 10
    """Source tasks up to this size travel in the call; Ray sends arguments of up to 100 KiB along."""
    source_chunk_bytes: int = 16 << 20
    """Source tasks that are stored together."""
    source_patience_s: float = 0.02
    """How long a slow source is waited for before what it has given is passed on."""
    resumed_at_once: int = 8
    """Interrupted calls that are looked at in a turn, so that a turn stays short."""
    last_calls: int = 2
    """Calls that a worker makes at least of its share of the last tasks: all workers end together."""

    # Estimates
    task_weight: float = 0.08
    """Weight of a task in the mean service time: rare slow tasks count, and do not shake it."""
    max_call_weight: float = 0.2
    """Weight of a call, however many tasks it has."""
    output_memory: float = 0.96
    """What is kept, from call to call, of what is known about outputs."""
    change_window: int = 5
    """Calls that agree with each other, and not with the mean, when a speed has changed."""
    change_window_of_several: int = 3
    """The same for calls of several tasks, each of which is a mean already."""
    change_factor: float = 1.3
    """Factor by which calls differ from the mean, and not from each other, when a speed has changed."""

    # CPUs that are leased
    lease_headroom: float = 1.2
    """Workers for each one that a step keeps busy: one that waits costs nothing, one that is missing costs time."""
    min_reserved_nodes: int = 8
    """Nodes that may be kept free for a step whose workers need several CPUs at once."""
    workers_per_reserved_node: int = 8
    """Workers of such a step for which one more node may be kept free."""

    # Sizes of pools
    balance_interval_s: float = 0.2
    """Time between two decisions: short against the start of a worker."""
    min_balance_interval_s: float = 0.02
    """The same when workers have ended: many may do so at the same time, and are decided on together."""
    aim_fraction: float = 0.1
    """Fraction of the time so far after which calls are sized for the time so far again."""
    warm_up_s: float = 10.0
    """Time after the first output in which pools may still find their size; it is not measured."""
    known_after_calls: int = 2
    """Calls after which the speed of a step is known: the first one loads what it needs."""
    usual_boot_s: float = 1.0
    """Start of a worker before one was seen: a process, and its imports."""
    min_gain: float = 1.05
    """Factor by which a change of pools must be faster: speeds waver by some percent."""
    min_patience_s: float = 0.4
    """How long a change must look worth it: two decisions."""
    patience_fraction: float = 0.25
    """The same as a fraction of a worker's start: the dearer a mistake, the surer one has to be."""
    max_hesitations: int = 3
    """Patience, times which the best split may keep changing before one is taken all the same."""
    horizon_s: float = 30.0
    """Time in which a change of pools must pay for the workers that start anew."""
    worker_rounding: float = 0.1
    """Part of a worker that is rounded away: speeds are never known better."""
    late_start_s: float = 2.0
    """A step whose workers take longer to start, and ``late_start_factor`` times as long as others, is late."""
    late_start_factor: float = 2.0
    """See ``late_start_s``."""
    min_use_of_start: float = 2.0
    """Times its start that a worker must be needed for at the end of a run."""
    shut_out_s: float = 5.0
    """Time without a place for its first worker after which steps take turns."""
    sampled_workers: int = 64
    """Workers of a step whose running calls are looked at for its speed."""
    searched_nodes: int = 64
    """Nodes on which room for a worker is looked for."""
    slow_start_warning_s: float = 60.0
    """Time after which workers that have not started are named in a warning."""

    # Failures
    blamed_deaths: int = 3
    """Workers that die alone with a task before it is given up, where nothing else ends workers."""
    max_blamed_deaths: int = 12
    """The same where others end workers too."""
    max_lone_losses: int = 24
    """No task is tried more often, whatever speaks for it: loading it may be what ends workers."""
    max_injustice: float = 1e-6
    """Probability with which bad luck alone may have a task given up."""
    suspect_parts: int = 16
    """Parts of a call whose worker died that are tried apart."""
    memory_parts: int = 4
    """Factor by which the parts of a table become more each time a task has run out of memory."""
    max_first_deaths: int = 3
    """Workers that die in a row while they are set up, before the first one was: it is the stage."""
    max_start_deaths: int = 20
    """The same once one was set up: others may end workers."""
    first_setup_tries: int = 1
    """Failed set-ups on a node before the first worker was set up: it is the stage."""
    setup_tries: int = 3
    """The same once one was set up: another node may do."""
    last_setup_tries: int = 6
    """The same where the step has no worker left."""
    deadline_interval_s: float = 0.2
    """Time between two looks for overdue calls."""
    deadline_grace_s: float = 1.0
    """What a call needs beside its stages: fetching inputs, storing outputs."""
    max_attention_s: float = 1.0
    """Of a longer time between two looks this much counts: the driver was elsewhere, and answers lay unread."""
    overdue_looks: int = 4
    """Looks at which a call must be overdue: answers that came while nobody looked take a moment to be read."""
    stuck_s: float = 10.0
    """Time without anything under way after which the run has failed: a step's turn may be decided later."""
    early_end_s: float = 5.0
    """What workers get to finish what they do, and to release what they hold, when a run ends early."""
    teardown_s: float = 60.0
    """The same when it ends as it should."""

    # Nodes
    node_interval_s: float = 2.0
    """Time between two looks at the nodes of a cluster."""
    node_probe_s: float = 2.0
    """What a node gets to accept a connection before it is called cut off."""
    reserve_patience_s: float = 60.0
    """Time in which a run must have reserved what it uses."""
    reserve_again_s: float = 10.0
    """Time after which what is free is looked at anew: others were faster, and it is less than it was."""
    reserve_one_s: float = 2.0
    """What the reservation of a single node takes at most, while a run waits for it."""
    release_s: float = 1.5
    """Time within which comes free what a run had that has just ended."""
    slow_release_s: float = 10.0
    """The same on a machine that is busy, where the run could not begin without it."""
    release_look_s: float = 0.05
    """Time between two looks at what has come free."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not value > 0:
                raise ConfigError(f"Tuning: {each.name} must be more than 0, got {value}")
