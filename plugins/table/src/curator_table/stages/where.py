"""Keep the rows for which a SQL expression is true."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from curator_core.sdk import ConfigError, DataError, Filter, Verdict
from curator_table.stages.scalar_sql import ScalarSqlError, scalar_sql

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch, WorkerInfo

__all__ = ["Where", "parse_condition"]

_SHOWN_CHARACTERS = 200
_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)  # a panic is no Exception, and would end a worker


@dataclass
class Where(Filter):
    """Keep the rows for which a SQL expression over their columns is true.

    As in SQL, a row for which it is null (unknown) is not kept.

    >>> from curator_core import TableBatch
    >>> batch = TableBatch(data={"url": ["a.org", "b.com", None], "score": [0.9, 0.8, 0.7]})
    >>> Where("score > 0.5 AND url LIKE '%.org'").process(batch).data["url"].to_pylist()
    ['a.org']

    Args:
        expression: The condition, in the SQL dialect of polars: comparisons, arithmetic, ``AND``, ``OR``, ``NOT``,
            ``LIKE``, ``IN``, ``BETWEEN``, ``IS NULL``, ``CASE``, ``CAST`` and functions of one row. Everything else is
            refused before polars sees it: queries, because they can read files, the clock, and aggregates and windows,
            because a row's fate must not depend on the batch it happens to be in.
    """

    expression: str

    name = "table.where"
    thread_safe: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return self._columns()

    def _columns(self) -> list[str]:
        return sorted(set(parse_condition(self.expression).meta.root_names()))

    def preflight(self) -> None:
        """Check the expression before anything starts."""
        parse_condition(self.expression)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        """Check the expression again where the stage runs: the versions of polars may differ."""
        parse_condition(self.expression)

    def judge(self, batch: TableBatch) -> Verdict:
        # Only the columns it reads are converted; one of them at least, to know the number of rows.
        frame = pl.DataFrame([batch.series(name) for name in self._columns() or batch.columns[:1]])
        condition = parse_condition(self.expression).alias("condition")
        try:
            truth = frame.with_columns(condition).get_column("condition")
        except _ERRORS as error:
            if _fails_without_rows(frame, condition):
                raise _wrong(self.expression, error) from error
            # A value is at fault, such as a word that is cast to a number: only its row shall be lost.
            raise DataError(f"{_shown(self.expression)}: {_first_line(error)}") from error
        if truth.dtype not in (pl.Boolean, pl.Null):
            raise ConfigError(
                f"table.where: {_shown(self.expression)} gives {truth.dtype}, not true or false",
                fix="write a condition, e.g. length(text) > 100",
            )
        truth = truth.cast(pl.Boolean)
        return Verdict(truth.cast(pl.UInt8), {"not_matched": ~truth})


@functools.lru_cache(maxsize=64)  # called for every batch
def parse_condition(expression: str) -> pl.Expr:
    """Parse a SQL condition on single rows.

    >>> parse_condition("a > 1 AND b IS NULL").meta.root_names()
    ['a', 'b']

    Raises:
        ConfigError: It is not SQL, or anything but an expression over the columns of one row.
    """
    try:
        # The brackets make sure that all of it is parsed: older versions of polars ignore what follows an expression.
        return pl.sql_expr(f"({scalar_sql(expression)})")
    except (ScalarSqlError, *_ERRORS) as error:
        raise _wrong(expression, error) from error


def _fails_without_rows(frame: pl.DataFrame, condition: pl.Expr) -> bool:
    try:
        frame.clear().with_columns(condition)
    except _ERRORS:
        return True
    return False


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def _shown(expression: str) -> str:
    return repr(expression if len(expression) <= _SHOWN_CHARACTERS else expression[:_SHOWN_CHARACTERS] + "…")


def _wrong(expression: str, error: BaseException) -> ConfigError:
    return ConfigError(
        f"table.where: {_shown(expression)} is not a SQL condition: {_first_line(error)}",
        fix="write it as after WHERE, with text in single quotes, e.g. lang = 'en' AND score > 0.5",
    )
