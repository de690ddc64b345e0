"""Histograms and quantiles of the numbers that go through a pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import polars as pl

from curator_core.sdk import ConfigError, ProcessingStage, StageError, TableBatch, make_folder, part_name, remove_parts
from curator_table.stages.statistics_files import ALL, FOLDER, Numbers, write_json, write_summary
from curator_table.stages.where import parse_condition

if TYPE_CHECKING:
    from collections.abc import Collection

    from curator_core.sdk import Columns, FinishedRun, NodeInfo, WorkerInfo

__all__ = ["Statistics"]

Measure = Literal["bytes", "chars", "words", "lines"]
_OTHER = "(other)"
_WORD = r"[^\s\x1c-\x1f]+"
"""Words as of :meth:`str.split`."""


@dataclass
class Statistics(ProcessingStage[TableBatch, TableBatch]):
    """Gather histograms of numbers while rows pass through, unchanged.

    Measures of the text, columns of numbers (scores that other stages added) and SQL expressions, for all rows and for
    each value of a column, such as the language. Each batch writes a small file to ``PATH/parts``; when the run ends,
    they are merged into ``PATH/summary.json`` (count, nulls, mean, limits, quantiles within 2.2 %, histogram) and
    ``PATH/summary.txt``, a table to read. The space needed does not grow with the corpus. Statistics of scores are what
    ``ranks`` of ``table.score_buckets`` takes. Give each run a folder of its own: parts that another run has left in it
    are counted too, which is what a resumed run needs.

    >>> import tempfile, json, pathlib
    >>> from curator_core import LocalExecutor, Pipeline, TableBatch
    >>> folder = tempfile.mkdtemp()
    >>> batch = TableBatch(data={"text": ["one", "two words"], "quality": [0.5, 0.7]})
    >>> _ = Pipeline(stages=[Statistics(folder, columns=["quality"])]).run(LocalExecutor(), initial_tasks=[batch])
    >>> summary = json.loads(pathlib.Path(folder, "summary.json").read_text())
    >>> summary["groups"]["(all)"]["metrics"]["words"]["mean"]
    1.5

    Args:
        path: Folder or URL for the statistics; created where missing.
        measures: Measures of the text.
        columns: Columns of numbers.
        expressions: For each name an SQL expression over the columns of a row, as in ``table.where``, that gives a
            number, e.g. ``{"title_fraction": "length(title) / length(text)"}``.
        by: Column by whose values rows are grouped.
        max_groups: Maximum number of groups in a batch; the rows of further values, the rarest, are counted together.
        text_column: Column with the text.
    """

    path: str
    measures: list[Measure] = field(default_factory=lambda: ["bytes", "chars", "words", "lines"])
    columns: list[str] = field(default_factory=list)
    expressions: dict[str, str] = field(default_factory=dict)
    by: str | None = None
    max_groups: int = 200
    text_column: str = "text"

    name = "table.statistics"
    thread_safe: ClassVar[bool] = True
    writes_files: ClassVar[bool] = True

    def __post_init__(self) -> None:
        names = [*self.measures, *self.columns, *self.expressions]
        if not names:
            raise ConfigError(f"{self.name}: nothing to measure", fix="e.g. measures: [words]")
        if len(set(names)) < len(names):
            raise ConfigError(f"{self.name}: two numbers have the same name", fix="rename an expression")
        for expression in self.expressions.values():
            parse_condition(expression)

    def inputs(self) -> Columns:
        used = [name for each in self.expressions.values() for name in parse_condition(each).meta.root_names()]
        text = [self.text_column] if self.measures else []
        grouped = [] if self.by is None else [self.by]
        return list(dict.fromkeys([*text, *self.columns, *used, *grouped]))

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        """Create the folder, once a machine."""
        make_folder(self._parts)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Create the folder, for runners that have no nodes."""
        make_folder(self._parts)

    def process(self, task: TableBatch) -> TableBatch:
        if not task.num_rows:
            return task
        if not task.task_id:
            raise StageError(
                f"{self.name} names files after tasks, and this task has no id", fix="run it in a pipeline"
            )
        numbers = self._numbers(task)
        groups = {ALL: self._measured(numbers)}
        if self.by is not None:
            values = self._groups(task.series(self.by).cast(pl.String).fill_null("(null)"))
            for value in values.unique().sort():
                groups[value] = self._measured(numbers.filter(values == value))
        write_json(f"{self._parts}/{part_name(task.task_id, '.json')}", {"by": self.by, "groups": groups})
        return task

    def finish(self, run: FinishedRun) -> None:  # noqa: ARG002 - the same after any run
        """Merge the parts into a summary."""
        write_summary(self.path)

    def remove_output(self, sources: Collection[str], *, only_torn: bool) -> None:
        """Remove the parts of source tasks."""
        remove_parts(self._parts, sources, only_torn=only_torn)

    @property
    def _parts(self) -> str:
        return f"{self.path.rstrip('/') or '/'}/{FOLDER}"

    def _numbers(self, task: TableBatch) -> pl.DataFrame:
        found: list[pl.Series] = []
        if self.measures:
            text = task.text(self.text_column)
            measures: dict[Measure, Any] = {
                "bytes": text.str.len_bytes,
                "chars": text.str.len_chars,
                "words": lambda: text.str.count_matches(_WORD),
                "lines": lambda: text.str.count_matches("\n", literal=True) + 1,
            }
            found += [measures[name]().alias(name) for name in self.measures]
        found += [task.series(name) for name in self.columns]
        for name, expression in self.expressions.items():
            parsed = parse_condition(expression)
            used = list(dict.fromkeys(parsed.meta.root_names())) or task.columns[:1]
            found.append(pl.DataFrame([task.series(each) for each in used]).with_columns(parsed.alias(name))[name])
        for each in found:
            if not (each.dtype.is_numeric() or each.dtype in (pl.Boolean, pl.Null)):
                raise StageError(f"{self.name}: {each.name!r} holds {each.dtype}, not numbers")
        return pl.DataFrame([each.cast(pl.Float64) for each in found])

    def _measured(self, numbers: pl.DataFrame) -> dict[str, Any]:
        metrics = {}
        for column in numbers:
            known = Numbers()
            known.add(column)
            metrics[column.name] = known.to_plain()
        return {"rows": numbers.height, "metrics": metrics}

    def _groups(self, values: pl.Series) -> pl.Series:
        counts = values.alias("value").value_counts(name="n").sort(["n", "value"], descending=[True, False])
        if counts.height <= self.max_groups:
            return values
        common = counts["value"].head(self.max_groups - 1)
        return pl.select(pl.when(values.is_in(common.implode())).then(values).otherwise(pl.lit(_OTHER))).to_series()
