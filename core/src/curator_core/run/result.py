"""The result of a run: outputs, statistics, quarantine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from curator_core.run.outputs import Outputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.run.ledger.missing_outputs import MissingOutputs
    from curator_core.values.stats import StatsTable

__all__ = ["RunResult"]


class RunResult(Sequence["Task[Any]"]):
    """The output tasks of a run, with statistics per stage and the records in quarantine.

    Files and single values are packed from the first thousand tasks on, and made into tasks each time they are asked
    for: changing such a task does not change the result.

    >>> from curator_core import LocalExecutor, Pipeline, Task, processing_stage
    >>> @processing_stage(name="double")
    ... def double(task):
    ...     return task.with_data(task.data * 2)
    >>> result = Pipeline("doubles", stages=[double]).run(LocalExecutor(), initial_tasks=[Task(data=3), Task(data=4)])
    >>> [task.data for task in result], result.stats["double"].tasks_in
    ([6, 8], 2)

    Attributes:
        stats: Statistics by stage name, in pipeline order.
        quarantined: Records in quarantine (at most the first ten thousand; ``quarantined_count`` counts all).
        wall_s: Duration of the run.
        time_to_first_output_s: When the first output was finished, or None without output.
        peak_object_store_bytes: Most bytes of tasks that were ever stored between steps, for executors that do so.
        run_dir: Folder of the run, where one was asked for.
        interrupted: Whether the run was stopped before its end.
        resumed_sources: Source tasks that an earlier run had done; their outputs and counts are part of the result.
        was_finished: Whether there was nothing left to do.
        warnings: Signs of trouble in a run that has succeeded: no rows are left, files of other runs are in the
            output folder.
    """

    def __init__(  # noqa: PLR0913 - the facts of a run, by keyword
        self,
        tasks: Sequence[Task[Any]],
        *,
        stats: StatsTable,
        quarantined: list[QuarantineRecord],
        quarantined_count: int,
        wall_s: float,
        time_to_first_output_s: float | None = None,
        peak_object_store_bytes: int = 0,
        run_dir: str | None = None,
        interrupted: bool = False,
        resumed_sources: int = 0,
        was_finished: bool = False,
        missing: MissingOutputs | None = None,
    ) -> None:
        self._tasks = tasks if isinstance(tasks, Outputs) else Outputs(tasks)
        self.stats = stats
        self.quarantined = quarantined
        self.quarantined_count = quarantined_count
        self.wall_s = wall_s
        self.time_to_first_output_s = time_to_first_output_s
        self.peak_object_store_bytes = peak_object_store_bytes
        self.run_dir = run_dir
        self.interrupted = interrupted
        self.resumed_sources = resumed_sources
        self.was_finished = was_finished
        self.warnings: list[str] = []
        self._missing = missing

    @overload
    def __getitem__(self, index: int) -> Task[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Task[Any]]: ...
    def __getitem__(self, index: int | slice) -> Task[Any] | list[Task[Any]]:
        return self._tasks[index]

    def __len__(self) -> int:
        return len(self._tasks)

    def __repr__(self) -> str:
        return f"RunResult({len(self)} tasks, {self.quarantined_count} quarantined, {self.wall_s:.1f} s)"

    @property
    def rows_in(self) -> int:
        """Rows that entered: given to the first stage, or else made by the first stage to make any."""
        for each in self.stats.values():
            if each.rows_in or each.rows_out:
                return each.rows_in or each.rows_out
        return 0

    @property
    def rows_out(self) -> int:
        """Rows in the output tasks."""
        return self._tasks.rows

    @property
    def dropped(self) -> dict[str, int]:
        """Rows dropped in all stages, by reason."""
        total: Counter[str] = Counter()
        for stage in self.stats.values():
            total.update(stage.dropped)
        return dict(sorted(total.items()))

    @property
    def outputs(self) -> list[str]:
        """Files that writers made, without those of an earlier run that are not there any more."""
        return list(self.iter_outputs())

    def iter_outputs(self) -> Iterator[str]:
        """Yield the files that writers made, without holding the list of them all."""
        return (path for path in self._tasks.paths() if self._missing is None or path not in self._missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values, as ``curator run --json`` prints it."""
        return {**self.summary(), "outputs": self.outputs}

    def summary(self) -> dict[str, Any]:
        """Return the summary without the list of files."""
        return {
            "rows_in": self.rows_in,
            "rows_out": self.rows_out,
            "dropped": self.dropped,
            "quarantined": self.quarantined_count,
            "wall_s": round(self.wall_s, 3),
            "time_to_first_output_s": self.time_to_first_output_s,
            "peak_object_store_bytes": self.peak_object_store_bytes,
            "interrupted": self.interrupted,
            "resumed_sources": self.resumed_sources,
            "was_finished": self.was_finished,
            "warnings": self.warnings,
            "stages": [each.to_dict() for each in self.stats.values()],
            "run_dir": self.run_dir,
        }

    def report(self) -> str:
        """Return a table of the rows that each stage kept and dropped, with reasons."""
        from curator_core.run.report import text_report

        return text_report(self)
