"""Decide whether to resume a run or refuse, from its ledger, the plan and the current input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from curator_core.authoring.stage_types import is_known
from curator_core.authoring.tasks import EmptyTask, FileGroupTask
from curator_core.call.lineage import number_sources
from curator_core.run.ledger.changes import CurrentSources, InputChanges, compare_sources
from curator_core.run.ledger.identity import differences
from curator_core.run.ledger.missing_outputs import MissingOutputs
from curator_core.run.source_listing import list_sources
from curator_core.run.source_order import SourceOrder, in_order
from curator_core.values.errors import ResumeError
from curator_core.values.source_ids import SourceIds, as_position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from curator_core.authoring.tasks import Task
    from curator_core.plan.plan import Plan
    from curator_core.run.ledger.ledger_file import LedgerContent

__all__ = ["Decision", "Resume", "current_sources", "decide", "in_source_order"]

Resume = bool | Literal["changed"]
"""Whether to resume a run: False, True (only if nothing has changed), or ``"changed"`` (redo what has changed)."""
_SHOWN = 20


@dataclass
class Decision:
    """How to resume.

    Args:
        content: The ledger to continue with; source tasks that are done in it are skipped.
        stale: Source tasks that were begun and are to be forgotten, with all that was written for them.
        is_changed: Whether the ledger must be rewritten.
        order: Places of the source tasks, where they are known.
        is_finished: Whether there is nothing left to do.
        notes: Messages for the user.
        missing: Output files that are gone, of source tasks that stay done.
        warnings: Those of the notes that are as true at the end of the run.
    """

    content: LedgerContent
    stale: SourceIds = field(default_factory=SourceIds)
    is_changed: bool = False
    order: SourceOrder = field(default_factory=SourceOrder)
    is_finished: bool = False
    notes: list[str] = field(default_factory=list)
    missing: MissingOutputs | None = None
    warnings: list[str] = field(default_factory=list)


def decide(
    content: LedgerContent,
    identity: Mapping[str, Any],
    sources: CurrentSources | None,
    *,
    missing: MissingOutputs | None = None,
    resume: Resume,
    run_dir: str,
    canonical_name: Callable[[str], str] = str,
) -> Decision:
    """Decide how to resume the run of a ledger.

    Args:
        content: The ledger of the run.
        identity: The pipeline of today.
        sources: The source tasks of today, where they can be known before the run.
        missing: Source tasks that are done and whose files are gone. They may have been moved on purpose, so they are
            made again only where changes may be redone.
        resume: Whether changes may be redone.
        run_dir: Folder of the run, for messages.
        canonical_name: Gives the name that a stage has today.

    Raises:
        ResumeError: Something has changed under work that is done, and may not be redone.
    """
    changed = differences(content.identity, identity, canonical_name)
    changes = InputChanges() if sources is None else compare_sources(content, sources)
    # What has changed before anything was done is in nobody's way.
    conflicts = changed + changes.conflicts if content.done else []
    if conflicts and resume != "changed":
        raise _refusal(conflicts, len(changed) + changes.conflict_count, run_dir)
    missing = missing or MissingOutputs()
    stale = changes.stale
    for source in content.begun if changed else missing.sources if resume == "changed" else ():
        stale.add(source)
    redone = SourceIds(source for source in stale if source in content.done)
    decision = Decision(content.without(redone) if redone else content, stale, is_changed=bool(changed or redone))
    decision.content.identity = dict(identity)
    if redone:
        reasons = conflicts + [f"{path} is gone" for source, path in missing.examples.items() if source in redone]
        reasons = reasons or ["small files are grouped differently, because others came or went"]
        decision.notes = [f"redoing {len(redone):,} of {len(content.done):,} finished source tasks", *reasons[:_SHOWN]]
    lost = sum(source not in redone for source in missing.sources)
    if lost:
        example = next((path for source, path in missing.examples.items() if source not in redone), "an output file")
        decision.missing = missing
        decision.warnings.append(
            f"{example} and perhaps others of {lost:,} finished source tasks are not there any more; "
            "resume=changed makes them again"
        )
        decision.notes += decision.warnings
    if sources is not None:
        decision.order = sources.order
    ended = content.finished
    decision.is_finished = bool(ended and ended.is_complete and not decision.is_changed and not changes.new)
    return decision


def current_sources(plan: Plan, initial_tasks: Iterable[Task[Any]] | None) -> CurrentSources | None:
    """Return the source tasks of a plan, or None if they are known only once it runs.

    Tasks given in a list are known; an iterator is not looked into. Files are listed, without reading them.
    """
    if initial_tasks is not None and not _is_empty_task_alone(initial_tasks):
        is_known_now = isinstance(initial_tasks, Sequence) and not any(_is_empty(task) for task in initial_tasks)
        return CurrentSources(lambda: number_sources(initial_tasks)) if is_known_now else None
    first = plan.stages[0]
    lists_files = is_known(first.output_type) and issubclass(first.output_type, FileGroupTask)
    if first.input_type is not EmptyTask or not lists_files:
        return None
    return CurrentSources(lambda: list_sources([first.stage], [EmptyTask()]))


def _is_empty_task_alone(tasks: Iterable[Task[Any]]) -> bool:
    """Return whether the only initial task is an empty one, which a pipeline with a reader starts with anyway."""
    return isinstance(tasks, Sequence) and len(tasks) == 1 and _is_empty(tasks[0])


def _is_empty(task: Task[Any]) -> bool:
    return isinstance(task, EmptyTask)


def in_source_order(outputs: Sequence[Task[Any]], order: SourceOrder) -> Sequence[Task[Any]]:
    """Return outputs by the place of their source and the child numbers in their ids."""

    def place(source: str) -> int:
        known = order.place(source)
        if known is not None:
            return known
        position = as_position(source)
        return len(order) if position is None else position

    return in_order(outputs, place)


def _refusal(conflicts: list[str], count: int, run_dir: str) -> ResumeError:
    shown = "".join(f"\n  - {each}" for each in conflicts[:_SHOWN])
    more = f"\n  - and {count - _SHOWN} more" if count > _SHOWN else ""
    return ResumeError(
        f"the run in {run_dir!r} cannot be resumed as it is, because something has changed since:{shown}{more}",
        fix='undo that, or redo what is affected with --resume=changed (in Python resume="changed")',
    )
