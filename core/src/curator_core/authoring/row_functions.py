"""Filters and maps that are plain functions of the values of one row."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.authoring.filter import Filter, Verdict
from curator_core.authoring.function_stage import MadeOfFunction, stage_of_function, type_hints_of
from curator_core.authoring.row_outcomes import refuse_rows
from curator_core.authoring.stage import ProcessingStage
from curator_core.authoring.tasks import TableBatch
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from curator_core.authoring.stage import Columns
    from curator_core.values.resources import Resources

__all__ = ["RowFilter", "RowMap", "row_filter", "row_map"]

_CHUNK_ROWS = 1024
_SKIPPED: Any = object()


@dataclass(kw_only=True)
class RowFilter(MadeOfFunction, Filter):
    """A filter that asks a function about each row; made by :func:`row_filter`.

    Args:
        columns: Columns whose values the function gets, in its order.
    """

    columns: list[str] = field(default_factory=list)

    reason: ClassVar[str]
    skip_nulls: ClassVar[bool]
    thread_safe: ClassVar[bool] = False  # a function may keep state, and Python runs one at a time anyway

    def inputs(self) -> Columns:
        return list(self.columns)

    def process(self, task: TableBatch) -> TableBatch | None:
        batch, answers = _call_on_rows(self, task)
        return None if task.num_rows and not answers else self.apply(batch, self._verdict(answers))

    def judge(self, batch: TableBatch) -> Verdict:
        return self._verdict(_call_on_rows(self, batch)[1])

    def _verdict(self, answers: list[Any]) -> Verdict:
        import polars as pl

        kept = [None if answer is None or answer is _SKIPPED else bool(answer) for answer in answers]
        score = pl.Series("kept", kept, dtype=pl.Boolean)
        return Verdict(score, {self.reason: ~score})


@dataclass(kw_only=True)
class RowMap(MadeOfFunction, ProcessingStage[TableBatch, TableBatch]):
    """A stage that computes columns of each row with a function; made by :func:`row_map`.

    Args:
        columns: Columns whose values the function gets, in its order.
        output: Column for what it returns; several, where it returns a dictionary. The first of ``columns``, or the
            keys of the dictionary, unless given.
    """

    columns: list[str] = field(default_factory=list)
    output: str | list[str] | None = None

    skip_nulls: ClassVar[bool]
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return list(self.columns)

    def outputs(self) -> Columns:
        names = [self.output] if isinstance(self.output, str) else self.output or []
        return [name for name in names if name not in self.columns]

    def process(self, task: TableBatch) -> TableBatch | None:
        batch, results = _call_on_rows(self, task, check=self._check)
        if task.num_rows and not results:
            return None
        names = [] if self.output is None or isinstance(self.output, str) else list(self.output)
        if self.output is None:
            names = list(dict.fromkeys(name for each in results if isinstance(each, Mapping) for name in each))
            if not names and (self._returns is Mapping or all(each is _SKIPPED for each in results)):
                return batch
        results = [None if each is _SKIPPED else each for each in results]
        for name in names:
            values = [None if each is None else each.get(name) for each in results]
            batch = batch.with_column(name, _column(values, None, batch, name))
        if names:
            return batch
        target = self.output if isinstance(self.output, str) else self.columns[0]
        kind = None if self._returns is Mapping else self._returns
        return batch.with_column(target, _column(results, kind, batch, target))

    @property
    def _returns(self) -> Any:
        return _arrow_type(type_hints_of(self.function).get("return"))

    def _check(self, result: object) -> None:
        """Refuse a result that does not fit ``output``."""
        if isinstance(self.output, list) and not isinstance(result, Mapping | None):
            raise TypeError(f"it returned {result!r}, not a dictionary with {', '.join(self.output)}")


@typing.overload
def row_filter(function: Callable[..., Any], /) -> RowFilter: ...


@typing.overload
def row_filter(
    *,
    reason: str | None = None,
    name: str | None = None,
    columns: str | Sequence[str] | None = None,
    skip_nulls: bool = True,
    resources: Resources | None = None,
) -> Callable[[Callable[..., Any]], RowFilter]: ...


def row_filter(
    function: Callable[..., Any] | None = None,
    /,
    *,
    reason: str | None = None,
    name: str | None = None,
    columns: str | Sequence[str] | None = None,
    skip_nulls: bool = True,
    resources: Resources | None = None,
) -> Any:
    """Turn a function of the values of one row into a filter, with ``@row_filter`` or ``@row_filter(...)``.

    Its parameters without a default name the columns whose values it gets; the others are configuration. A row is kept
    where it returns True and dropped where it returns False; where it returns None, and where a value is null, the row
    is dropped as ``missing_value``. A row on which it raises is quarantined alone.

    The function is called once per row, in Python: fine for a rule of one's own on some millions of rows, many times
    slower than :meth:`Filter.of`, which computes on columns.

    >>> from curator_core import TableBatch
    >>> @row_filter(reason="too_short")
    ... def long_enough(text: str, *, min_words: int = 2) -> bool:
    ...     return len(text.split()) >= min_words
    >>> batch = TableBatch(data={"text": ["one", "one two", None]})
    >>> long_enough.process(batch).data["text"].to_pylist()
    ['one two']
    >>> long_enough(min_words=1).process(batch).data["text"].to_pylist()
    ['one', 'one two']
    >>> long_enough("one")
    False

    Args:
        function: Takes values of a row; says whether to keep it.
        reason: Why rows are dropped, in statistics; the function's name unless given.
        name: Name of the stage; the function's unless given.
        columns: The columns, where the function's parameters have other names.
        skip_nulls: Call the function only where no value is null.
        resources: What one worker needs; one CPU unless given.
    """

    def decorate(function: Callable[..., Any]) -> RowFilter:
        names = _column_names(function, columns)
        own_reason = reason or str(getattr(function, "__name__", "function"))
        options = {"columns": names, "reason": own_reason, "skip_nulls": skip_nulls}
        return stage_of_function(function, RowFilter, values=len(names), name=name, resources=resources, **options)

    return decorate if function is None else decorate(function)


@typing.overload
def row_map(function: Callable[..., Any], /) -> RowMap: ...


@typing.overload
def row_map(
    *,
    output: str | Sequence[str] | None = None,
    name: str | None = None,
    columns: str | Sequence[str] | None = None,
    skip_nulls: bool = True,
    resources: Resources | None = None,
) -> Callable[[Callable[..., Any]], RowMap]: ...


def row_map(
    function: Callable[..., Any] | None = None,
    /,
    *,
    output: str | Sequence[str] | None = None,
    name: str | None = None,
    columns: str | Sequence[str] | None = None,
    skip_nulls: bool = True,
    resources: Resources | None = None,
) -> Any:
    """Turn a function of the values of one row into a stage, with ``@row_map`` or ``@row_map(...)``.

    Its parameters without a default name the columns whose values it gets; the others are configuration. It returns the
    new value of a column, or a dictionary with the values of several. Annotate what it returns (``-> int``), so that
    the column has this type in every batch, whatever its values. A row with a null value gets a null. A row on which
    the function raises is quarantined alone.

    The function is called once per row, in Python, many times slower than a stage that computes on columns.

    >>> from curator_core import TableBatch
    >>> @row_map(output="words")
    ... def count_words(text: str) -> int:
    ...     return len(text.split())
    >>> count_words.process(TableBatch(data={"text": ["one two", None]})).data["words"].to_pylist()
    [2, None]
    >>> @row_map(output=["first", "last"])
    ... def split_name(name: str, *, separator: str = " ") -> dict:
    ...     first, _, last = name.partition(separator)
    ...     return {"first": first, "last": last}
    >>> split_name.process(TableBatch(data={"name": ["Ada Lovelace"]})).data["last"].to_pylist()
    ['Lovelace']

    Args:
        function: Takes values of a row.
        output: Column for what it returns, or columns where it returns a dictionary. The first of the columns it takes,
            or the keys of the dictionary, unless given; what reads new columns of a dictionary needs them declared.
        name: Name of the stage; the function's unless given.
        columns: The columns, where the function's parameters have other names.
        skip_nulls: Call the function only where no value is null.
        resources: What one worker needs; one CPU unless given.
    """

    def decorate(function: Callable[..., Any]) -> RowMap:
        names = _column_names(function, columns)
        target = output if isinstance(output, str) or output is None else list(output)
        options = {"columns": names, "output": target, "skip_nulls": skip_nulls}
        return stage_of_function(function, RowMap, values=len(names), name=name, resources=resources, **options)

    return decorate if function is None else decorate(function)


def _column_names(function: Callable[..., Any], columns: str | Sequence[str] | None) -> list[str]:
    if columns is not None:
        return [columns] if isinstance(columns, str) else list(columns)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    names = [each.name for each in parameters if each.kind in positional and each.default is each.empty]
    if not names:
        raise ConfigError(
            f"function {getattr(function, '__name__', function)!r} takes no column",
            fix="name its first parameters after columns, without defaults, or give columns=[...]",
        )
    return names


def _call_on_rows(
    stage: RowFilter | RowMap, batch: TableBatch, *, check: Callable[[object], None] = lambda _: None
) -> tuple[TableBatch, list[Any]]:
    """Return the rows on which the function does not raise, and what it returns for them."""
    function, settings = stage.function, stage.chosen()
    results: list[Any] = []
    failures: dict[int, Exception] = {}
    for index, row in enumerate(_rows(batch, stage.columns)):
        try:
            if stage.skip_nulls and any(each is None for each in row):
                result = _SKIPPED
            else:
                result = function(*row, **settings)
                check(result)
        except MemoryError:  # noqa: PERF203 - each row is tried; this says nothing about the row
            raise
        except Exception as error:  # noqa: BLE001 - isolation border: the row is quarantined, its neighbours come out
            failures[index] = error
        else:
            results.append(result)
    return refuse_rows(batch, failures), results


def _rows(batch: TableBatch, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of each row, a few rows in Python at a time."""
    for column in columns:
        batch.check_column(column)
    for part in batch.data.select(columns).to_batches(max_chunksize=_CHUNK_ROWS):
        yield from zip(*(column.to_pylist() for column in part.columns), strict=True)


def _arrow_type(hint: Any) -> Any:
    """Return the Arrow type for an annotation, ``Mapping`` for one that is a dictionary, None for any other."""
    import pyarrow as pa

    arguments = typing.get_args(hint)
    members = [each for each in arguments if each is not type(None)]
    if type(None) in arguments and len(members) == 1:
        return _arrow_type(members[0])
    origin = typing.get_origin(hint) or hint
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Mapping
    if origin in (list, Sequence) and members:
        inner = _arrow_type(members[0])
        return None if inner in (None, Mapping) else pa.list_(inner)
    plain = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}
    return plain.get(origin) if isinstance(origin, type) else None


def _column(values: list[Any], kind: pa.DataType | None, batch: TableBatch, name: str) -> pa.Array:
    import pyarrow as pa

    made = pa.array(values, kind)
    if pa.types.is_null(made.type) and name in batch.columns:  # no value that could tell its type
        return pa.nulls(len(values), batch.data.schema.field(name).type)
    return made
