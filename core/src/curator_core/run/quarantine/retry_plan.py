"""Decide how each record is retried, and what the outcome means for it: pure decisions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from curator_core.authoring.tasks import source_id
from curator_core.run.quarantine.folder import Resolution

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curator_core.call.quarantine_record import QuarantineRecord

__all__ = ["RetryOrder", "Verdicts", "lay_out", "settle_kept", "settle_sources"]


@dataclass
class RetryOrder:
    """How records are retried.

    Args:
        kept: Records whose rows or tasks were kept, by the stage that they are given to again.
        sources: Records that are only known by their source task, by its id: the source is processed again, whole.
        impossible: Records that cannot be retried, with the reason.
    """

    kept: dict[str, list[QuarantineRecord]] = field(default_factory=lambda: defaultdict(list))
    sources: dict[str, list[QuarantineRecord]] = field(default_factory=lambda: defaultdict(list))
    impossible: dict[str, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Records that can be retried."""
        return sum(len(each) for group in (self.kept, self.sources) for each in group.values())


@dataclass
class Verdicts:
    """Changes to the quarantine after a retry.

    Args:
        resolved: Records that are done with.
        records: Records that failed again, and new ones.
        obsolete: Files of earlier retries whose rows are now in the output of their source.
    """

    resolved: list[Resolution] = field(default_factory=list)
    records: list[QuarantineRecord] = field(default_factory=list)
    obsolete: list[str] = field(default_factory=list)

    def add(self, other: Verdicts) -> None:
        """Add the verdicts on other records."""
        self.resolved += other.resolved
        self.records += other.records
        self.obsolete += other.obsolete


def lay_out(
    chosen: Iterable[QuarantineRecord], *, unresolved: Iterable[QuarantineRecord], stages: Sequence[str]
) -> RetryOrder:
    """Decide how to retry records.

    A kept task goes back to the stage that failed. Where nothing was kept, the whole source task is processed again;
    that covers all records of the source, also those that were not chosen or were kept, so that no row comes out twice.

    Args:
        chosen: Records to retry.
        unresolved: All records that are not resolved.
        stages: Names of the pipeline's stages.
    """
    order = RetryOrder()
    chosen = list(chosen)
    for record in chosen:
        if record.stage not in stages:
            order.impossible[record.record_id] = f"the pipeline has no stage {record.stage!r}"
    chosen = [record for record in chosen if record.record_id not in order.impossible]
    whole = {source_id(record.task_id) for record in chosen if record.payload_file is None}
    for record in unresolved:
        if source_id(record.task_id) in whole and record.stage in stages:
            order.sources[source_id(record.task_id)].append(record)
    for record in chosen:
        if source_id(record.task_id) not in whole:
            order.kept[record.stage].append(record)
    return order


def settle_kept(
    retried: Sequence[QuarantineRecord],
    failures: Iterable[QuarantineRecord],
    outputs: Mapping[str, Sequence[str]],
    *,
    time: str,
) -> Verdicts:
    """Decide about records whose kept tasks were retried.

    Args:
        retried: The records.
        failures: Records that went to quarantine during the retry.
        outputs: Files that were written, by the id of the task they came from.
        time: When.
    """
    verdicts = Verdicts()
    by_task = {record.retry_id: record for record in retried}
    again: dict[str, list[QuarantineRecord]] = defaultdict(list)
    for failure in failures:
        again[_ancestor(failure.task_id, by_task)].append(failure)
    files: dict[str, list[str]] = defaultdict(list)
    for task_id, paths in outputs.items():
        files[_ancestor(task_id, by_task)] += paths
    for task_id, record in by_task.items():
        failed = again[task_id]
        if len(failed) == 1 and failed[0].task_id == task_id and failed[0].rows == record.rows:
            verdicts.records.append(_failed_again(record, failed[0]))
            continue
        verdicts.records += failed
        own_files = tuple(sorted(files[task_id])) if record.is_part else ()
        verdicts.resolved.append(
            Resolution(record.record_id, time, own_files, tuple(each.record_id for each in failed))
        )
    return verdicts


def settle_sources(
    retried: Sequence[QuarantineRecord],
    failures: Iterable[QuarantineRecord],
    *,
    known: Mapping[str, QuarantineRecord],
    resolutions: Mapping[str, Resolution],
    time: str,
) -> Verdicts:
    """Decide about records whose whole sources were processed again.

    Args:
        retried: The records.
        failures: Records that went to quarantine during the retry; the same rows have the same record ids as before.
        known: All records there are.
        resolutions: Outcomes of the resolved ones.
        time: When.
    """
    verdicts = Verdicts()
    failed = {failure.record_id: failure for failure in failures}
    sources = {source_id(record.task_id) for record in retried}
    for record in retried:
        if record.record_id not in failed:
            verdicts.resolved.append(Resolution(record.record_id, time))
    for record_id, failure in failed.items():
        if record_id in resolutions and resolutions[record_id].outputs:
            continue  # its rows came out of an earlier retry, alone, and stay there
        before = known.get(record_id)
        verdicts.records.append(failure if before is None else _failed_again(before, failure))
    for record_id, resolution in resolutions.items():
        done = known.get(record_id)
        if done is not None and source_id(done.task_id) in sources and record_id not in failed:  # in the source's files
            verdicts.obsolete += resolution.outputs
    return verdicts


def _failed_again(before: QuarantineRecord, now: QuarantineRecord) -> QuarantineRecord:
    """Return the newer record under the older one's identity, with the tries of both.

    Where the newer failure left nothing to retry, what was kept before goes to the stage it was kept for.
    """
    if now.payload_file is None:
        now = replace(now, stage=before.stage, payload_file=before.payload_file)
    return replace(
        now,
        record_id=before.record_id,
        task_id=before.task_id,
        is_part=before.is_part,
        source=before.source,
        row=before.row,
        attempts=before.attempts + now.attempts,
    )


def _ancestor(task_id: str, known: Mapping[str, object]) -> str:
    """Return the task that another descends from: the longest beginning of its id that is known."""
    while task_id not in known:
        head, slash, _ = task_id.rpartition("/")
        assert slash, f"task {task_id!r} does not descend from a task of the retry"
        task_id = head
    return task_id
