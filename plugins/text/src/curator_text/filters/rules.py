"""Building blocks of filters: ratios, and rules that are judged in order."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from curator_core.sdk import Verdict, array_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from curator_core.sdk import TableBatch
    from curator_text.metrics.group import MetricGroup

__all__ = ["Rule", "compile_rules", "judge_rules", "ratio"]


def ratio(part: str | pl.Expr, whole: str | pl.Expr, *, of_nothing: float | None = None) -> pl.Expr:
    """Return one column divided by another, and ``of_nothing`` where there is nothing to divide by.

    >>> pl.DataFrame({"a": [1, 0], "b": [2, 0]}).select(ratio("a", "b", of_nothing=1.0)).to_series().to_list()
    [0.5, 1.0]
    """
    part = pl.col(part) if isinstance(part, str) else part
    whole = pl.col(whole) if isinstance(whole, str) else whole
    return pl.when(whole == 0).then(of_nothing).otherwise(part / whole)


@dataclass(frozen=True)
class Rule:
    """A reason to drop a document.

    Args:
        reason: Reason reported for the documents that the rule drops; several rules may have the same.
        groups: The metrics that the rule needs.
        applies: An expression over the columns of the groups: true drops the document, null does not.
    """

    reason: str
    groups: tuple[MetricGroup, ...]
    applies: pl.Expr


def compile_rules(rules: Sequence[Rule]) -> None:
    """Compile the kernels that rules need, once a machine."""
    for group in {group: None for rule in rules for group in rule.groups}:
        group.prepare()


def judge_rules(batch: TableBatch, text_column: str, rules: Sequence[Rule], *, measure_all: bool) -> Verdict:
    """Judge documents by rules; the first rule broken, in their order, is the reason.

    A group is measured only for documents that no rule has dropped so far, unless a neighbouring filter has measured
    it already: so rules that need cheap groups come first. The score is the number of rules that a document passes
    before it breaks one; all of them for a document that is kept.

    >>> from curator_text import DocumentBatch
    >>> from curator_text.metrics.group import MetricGroup
    >>> size = MetricGroup("bytes", lambda texts: {"bytes": np.diff(texts.offsets)})
    >>> rules = [Rule("empty", (size,), pl.col("bytes") == 0), Rule("huge", (size,), pl.col("bytes") > 9)]
    >>> batch = DocumentBatch(data={"text": ["", "fits", "is too long"]})
    >>> judge_rules(batch, "text", rules, measure_all=False).score.to_list()
    [0, 2, 1]

    Args:
        batch: The documents.
        text_column: Column with the text.
        rules: The rules, those that need the same groups next to each other.
        measure_all: Measure all documents for all rules, not only those without a reason so far.
    """
    batch.check_column(text_column)
    is_text = np.asarray(batch.data.column(text_column).is_valid().to_numpy())
    is_open = is_text
    passed = np.full(batch.num_rows, len(rules), dtype=np.int64)
    measured: dict[MetricGroup, pl.DataFrame] = {}
    for groups, neighbours in groupby(enumerate(rules), key=lambda each: each[1].groups):
        for group in groups:
            if group not in measured:
                wanted = None if measure_all or (is_open == is_text).all() else is_open
                measured[group] = group.of_rows(batch, text_column, wanted)
        frame = pl.concat([measured[group] for group in groups], how="horizontal")
        masks = frame.select(rule.applies.fill_null(value=False).alias(str(number)) for number, rule in neighbours)
        for mask in masks:
            broken = mask.to_numpy() & is_open
            passed[broken] = int(mask.name)
            is_open = is_open & ~broken
    reasons: dict[str, NDArray[np.bool_]] = {}
    for number, rule in enumerate(rules):
        broken = passed == number
        reasons[rule.reason] = reasons[rule.reason] | broken if rule.reason in reasons else broken
    score = array_series("passed", passed)
    if not is_text.all():
        score = pl.select(pl.when(array_series("is_text", is_text)).then(score)).to_series()
    return Verdict(score, reasons)
