"""The base of stages that drop rows: a subclass judges, this class drops, counts, tags and keeps what was dropped."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.authoring.array_series import array_series
from curator_core.authoring.recording import report
from curator_core.authoring.stage import ProcessingStage
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, TableBatch
from curator_core.values.errors import ConfigError, StageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from curator_core.authoring.stage import Columns

__all__ = ["MISSING_VALUE", "Filter", "Verdict", "check_range"]

MISSING_VALUE = "missing_value"
"""Reason of rows whose score is null: there was nothing to judge."""


@dataclass(frozen=True)
class Verdict:
    """A filter's judgement of a batch.

    >>> Verdict([3, 9], {"too_many": [False, True]}).reasons
    {'too_many': [False, True]}

    Args:
        score: One number per row; null where the row has nothing to judge. Polars, Arrow, numpy or a list.
        reasons: For each reason to drop, which rows it applies to. The first that applies is the one reported.
    """

    score: Any
    reasons: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def between(cls, score: Any, low: float | None, high: float | None, *, below: str, above: str) -> Verdict:
        """Drop scores under ``low`` for the reason ``below`` and over ``high`` for ``above``; None is no limit.

        >>> import polars as pl
        >>> list(Verdict.between(pl.Series([1, 5, 9]), 2, 8, below="few", above="many").reasons)
        ['few', 'many']
        """
        reasons = {}
        if low is not None:
            reasons[below] = score < low
        if high is not None:
            reasons[above] = score > high
        return cls(score, reasons)


@dataclass
class Filter(ProcessingStage[TableBatch, TableBatch]):
    """Drop rows, saying why.

    >>> import polars as pl
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class MinChars(Filter):
    ...     min_chars: int = 3
    ...     text_column: str = "text"
    ...
    ...     def judge(self, batch):
    ...         length = batch.text(self.text_column).str.len_chars()
    ...         return Verdict(length, {"too_short": length < self.min_chars})
    >>> MinChars().process(TableBatch(data={"text": ["hi", "hello"]})).data["text"].to_pylist()
    ['hello']

    Args:
        tag: Keep all rows and add ``<name>_score`` and ``<name>_reason`` columns instead.
        invert: Drop what would be kept and keep what would be dropped.
        save_dropped: Write dropped rows with ``_stage``, ``_reason`` and ``_score`` to the run directory.
    """

    tag: bool = field(default=False, kw_only=True)
    invert: bool = field(default=False, kw_only=True)
    save_dropped: bool = field(default=False, kw_only=True)

    row_wise: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    """A filter whose :meth:`judge` changes something of the filter says False."""
    options: ClassVar[tuple[str, ...]] = (*ProcessingStage.options, "tag", "invert", "save_dropped")

    @staticmethod
    def of(expression: pl.Expr, *, reason: str, name: str | None = None) -> Filter:
        """Return a filter that keeps the rows for which a polars expression is true.

        Rows for which it is false are dropped for ``reason``, and rows for which it is null as ``missing_value``.

        >>> import polars as pl
        >>> long_enough = Filter.of(pl.col("text").str.len_chars() >= 3, reason="too_short")
        >>> long_enough.process(TableBatch(data={"text": ["hi", "hello", None]})).data["text"].to_pylist()
        ['hello']

        Args:
            expression: Looks at one row at a time: it must not depend on other rows of the batch.
            reason: Why rows are dropped, in statistics.
            name: Name of the stage; the reason unless given.
        """
        made = _ExpressionFilter(expression, reason)
        made.name = name or reason
        return made

    def prepare_rows(self, task: TableBatch) -> TableBatch:
        """Return the rows to judge: without those that cannot be read, and with the columns that :meth:`judge` needs.

        All of the task as it is, unless overridden.

        >>> import polars as pl
        >>> class Short(Filter):
        ...     def prepare_rows(self, task):
        ...         return task.with_column("chars", task.text("text").str.len_chars())
        ...     def judge(self, batch):
        ...         return Verdict(batch.series("chars"), {"too_long": batch.series("chars") > 3})
        >>> Short().process(TableBatch(data={"text": ["hi", "hello"]})).data.to_pylist()
        [{'text': 'hi', 'chars': 2}]
        """
        return task

    @abstractmethod
    def judge(self, batch: TableBatch) -> Verdict:
        """Score every row and say which rows to drop for which reason."""

    def inputs(self) -> Columns:
        """Name the columns judged: by default the one in ``text_column``, where the filter has that parameter."""
        text_column = getattr(self, "text_column", None)
        return [] if text_column is None else [text_column]

    def outputs(self) -> Columns:
        return list(self.tag_columns) if self.tag else []

    @property
    def tag_columns(self) -> tuple[str, str]:
        """Names of the score and reason columns added by ``tag``."""
        short = self.name.rpartition(".")[2]
        return f"{short}_score", f"{short}_reason"

    def process(self, task: TableBatch) -> TableBatch | None:
        """Judge a batch and drop, or tag, the rows that do not pass."""
        batch = self.prepare_rows(task)
        return self.apply(batch, self.judge(batch)) if batch.num_rows or not task.num_rows else None

    def apply(self, task: TableBatch, verdict: Verdict) -> TableBatch | None:
        """Drop, or tag, the rows of a batch that do not pass."""
        import numpy as np

        score = _series(verdict.score, task, what=f"the score of filter {self.name!r}")
        names, first = _first_reasons(verdict, score, task, self.name)
        if self.invert:
            names, first = ["inverted"], (first < 0).astype(np.int16) - 1
        if score.dtype.is_numeric():
            report().scores.add(score)
        if self.tag:
            score_column, reason_column = self.tag_columns
            return task.with_column(score_column, score).with_column(reason_column, _reason_texts(names, first))
        is_kept = first < 0
        if is_kept.all():
            return task
        return self._drop(task, score, names, first)

    def _drop(
        self, task: TableBatch, score: pl.Series, names: list[str], first: NDArray[np.int16]
    ) -> TableBatch | None:
        import numpy as np

        recording = report()
        for name, count in zip(names, np.bincount(first[first >= 0], minlength=len(names)).tolist(), strict=True):
            if count:
                recording.drop(name, count)
        if self.save_dropped:
            recording.keep_dropped_rows(self._dropped_table(task, score, _reason_texts(names, first)))
        kept = task.with_rows(array_series("is_kept", first < 0))
        return kept if kept.num_rows else None

    def _dropped_table(self, task: TableBatch, score: pl.Series, reason: pl.Series) -> pa.Table:
        import polars as pl

        names = pl.select(pl.repeat(self.name, task.num_rows, dtype=pl.String)).to_series()
        tagged = task.with_column("_stage", names).with_column("_reason", reason)
        if score.dtype.is_numeric() or score.dtype == pl.Boolean:
            score = score.cast(pl.Float64)
        return tagged.with_column("_score", score).data.filter(reason.is_not_null().to_arrow())


@dataclass
class _ExpressionFilter(Filter):
    """Keep rows for which a polars expression is true."""

    expression: Any = field(compare=False)
    reason: str

    def inputs(self) -> Columns:
        return list(self.expression.meta.root_names())

    def judge(self, batch: TableBatch) -> Verdict:
        import polars as pl

        meta = self.expression.meta
        columns = list(meta.root_names())
        for column in columns:
            batch.check_column(column)
        if meta.has_multiple_outputs() or not columns:  # pl.all(), selectors: every column but the provenance
            columns = [column for column in batch.columns if column not in (SOURCE_COLUMN, ROW_COLUMN)]
        frame = batch.with_data(batch.data.select(columns)).frame
        is_kept = frame.select(kept=self.expression).to_series()
        if is_kept.dtype not in (pl.Boolean, pl.Null):
            raise StageError(
                f"filter {self.name!r}: the expression gives {is_kept.dtype}, not booleans",
                fix="compare it with something, such as pl.col('n') > 5",
            )
        is_kept = is_kept.cast(pl.Boolean)
        if len(is_kept) == 1 != batch.num_rows:  # of a constant
            is_kept = is_kept.new_from_index(0, batch.num_rows)
        return Verdict(is_kept, {self.reason: ~is_kept})


def check_range(stage_name: str, **limits: float | None) -> None:
    """Refuse a lower limit above the upper one: nothing would be kept.

    >>> check_range("text.word_count", min_words=1, max_words=5)

    Raises:
        ConfigError: The first limit is more than the second.
    """
    (low_name, low), (high_name, high) = limits.items()
    if low is not None and high is not None and low > high:
        raise ConfigError(
            f"{stage_name}: {low_name}={low} is more than {high_name}={high}", fix="swap them; nothing would be kept"
        )


def _first_reasons(
    verdict: Verdict, score: pl.Series, task: TableBatch, name: str
) -> tuple[list[str], NDArray[np.int16]]:
    """Return all reasons, and for each row the number of the first that applies; negative for none."""
    import numpy as np
    import polars as pl

    names = [MISSING_VALUE, *verdict.reasons]
    first = np.full(task.num_rows, -1, dtype=np.int16)
    for number, (text, mask) in reversed(list(enumerate(verdict.reasons.items(), start=1))):
        what = f"the mask for reason {text!r} of filter {name!r}"
        if isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == first.shape:
            first[mask] = number
            continue
        applies = _series(mask, task, what=what)
        if applies.dtype not in (pl.Boolean, pl.Null):
            raise StageError(f"{what} holds {applies.dtype}, not booleans")
        first[applies.cast(pl.Boolean).fill_null(value=False).to_numpy()] = number
    if score.null_count():
        first[score.is_null().to_numpy()] = 0
    return names, first


def _reason_texts(names: list[str], first: NDArray[np.int16]) -> pl.Series:
    import polars as pl

    texts: pl.Series = pl.Series(names, dtype=pl.String).gather(pl.Series(first).replace(-1, None)).rename("reason")
    return texts


def _series(values: Any, task: TableBatch, *, what: str) -> pl.Series:
    import polars as pl

    series: pl.Series = values if isinstance(values, pl.Series) else pl.Series(values)
    if len(series) != task.num_rows:
        raise StageError(f"{what} has {len(series)} entries for {task.num_rows} rows")
    return series
