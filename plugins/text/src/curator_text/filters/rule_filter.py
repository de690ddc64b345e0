"""Filters as lists of rules over groups of metrics: what is cheap is measured first, and only what is left goes on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from curator_core.sdk import Filter, Verdict, array_series
from curator_table import check_segmenter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from curator_core.sdk import NodeInfo, TableBatch
    from curator_text.metrics.group import MetricGroup

__all__ = ["Rule", "RuleFilter", "share"]


@dataclass(frozen=True)
class Rule:
    """A reason to drop a document.

    Args:
        reason: What is reported of the documents it applies to.
        group: The metrics it needs, in one group or several.
        applies: True, as an expression over the columns of the groups, for documents to drop; null is no.
    """

    reason: str
    group: MetricGroup | tuple[MetricGroup, ...]
    applies: pl.Expr

    @property
    def groups(self) -> tuple[MetricGroup, ...]:
        """The groups of metrics it needs."""
        return self.group if isinstance(self.group, tuple) else (self.group,)


def share(part: str | pl.Expr, whole: str | pl.Expr) -> pl.Expr:
    """Return the quotient of two columns; null where the whole is zero.

    >>> pl.DataFrame({"symbols": [1, 1], "words": [4, 0]}).select(share("symbols", "words")).to_series().to_list()
    [0.25, None]
    """
    part = pl.col(part) if isinstance(part, str) else part
    whole = pl.col(whole) if isinstance(whole, str) else whole
    return pl.when(whole != 0).then(part / whole)


@dataclass
class RuleFilter(Filter):
    """Drop documents that break a rule; the first rule broken, in their order, is the reason.

    Rules that stand next to each other and need the same group are judged together. A group is measured only for
    documents that no rule has dropped so far, unless a neighbouring filter has measured it already.

    The score is :meth:`score` where a filter has one number that it judges by. Else it is the number of rules that a
    document passes before it breaks one: the number of all rules for a document that is kept.

    >>> from curator_text.metrics.group import MetricGroup
    >>> size = MetricGroup("bytes", lambda texts: {"bytes": np.diff(texts.offsets)})
    >>> class Sized(RuleFilter):
    ...     def rules(self):
    ...         return [Rule("empty", size, pl.col("bytes") == 0), Rule("huge", size, pl.col("bytes") > 9)]
    >>> from curator_text import DocumentBatch
    >>> tagged = Sized(tag=True).process(DocumentBatch(data={"text": ["", "fits", "is too long"]}))
    >>> tagged.data["Sized_reason"].to_pylist(), tagged.data["Sized_score"].to_pylist()
    (['empty', None, 'huge'], [0, 2, 1])

    Args:
        text_field: Column with the text.
    """

    text_field: str = field(default="text", kw_only=True)

    @abstractmethod
    def rules(self) -> Sequence[Rule]:
        """Return the rules in the order in which they are judged, cheap groups first."""

    def preflight(self) -> Sequence[str] | None:
        """Check that the packages that splitting text needs are installed.

        Raises:
            MissingPackageError: One is not.
        """
        for group in {group: None for rule in self.rules() for group in rule.groups}:
            check_segmenter(self.name, group.words)
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        for group in {group: None for rule in self.rules() for group in rule.groups}:
            group.prepare()

    def score(self) -> pl.Expr | None:
        """Return the number to report, over the columns of the first rule's group; None counts rules passed."""
        return None

    def judge(self, batch: TableBatch) -> Verdict:
        rules = self.rules()
        is_null = _is_null(batch, self.text_field)
        passed = np.full(batch.num_rows, len(rules), dtype=np.int64)
        is_open = ~is_null
        reported = self.score()
        score: pl.Series | None = None
        number = 0
        measured: dict[MetricGroup, pl.DataFrame] = {}
        for groups, neighbours in groupby(rules, key=lambda rule: rule.groups):
            for group in groups:
                if group not in measured:
                    none_dropped = bool((is_open | is_null).all())
                    wanted = None if self.tag or none_dropped else is_open
                    measured[group] = group.of_rows(batch, self.text_field, wanted)
            frame = pl.concat([measured[group] for group in groups], how="horizontal")
            together = list(neighbours)
            if reported is not None and score is None:
                score = frame.select(reported).to_series()
            masks = frame.select(rule.applies.fill_null(value=False).alias(str(i)) for i, rule in enumerate(together))
            for mask in masks:
                broken = mask.to_numpy() & is_open
                passed[broken] = number
                is_open &= ~broken
                number += 1
        if score is None:
            score = array_series("passed", passed)
        if is_null.any():
            score = pl.select(pl.when(array_series("is_text", ~is_null)).then(score)).to_series()
        reasons: dict[str, NDArray[np.bool_]] = {}
        for at, rule in enumerate(rules):
            broken = passed == at
            reasons[rule.reason] = reasons[rule.reason] | broken if rule.reason in reasons else broken
        return Verdict(score, reasons)


def _is_null(batch: TableBatch, text_field: str) -> NDArray[np.bool_]:
    batch.check_column(text_field)
    column = batch.data.column(text_field)
    if column.null_count == 0:
        return np.zeros(batch.num_rows, dtype=np.bool_)
    return np.asarray(column.is_null().to_numpy())
