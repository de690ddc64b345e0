"""How far two lists of decisions about the same documents agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXAMPLES = 5


@dataclass
class Agreement:
    """What was found of one filter on one corpus.

    Args:
        filter_name: The filter.
        corpus: The corpus.
        documents: How many there are.
        same_decision: How many are kept by both or dropped by both.
        same_reason: How many have the same outcome in every respect that was compared.
        min_fraction: Smallest acceptable fraction of ``same_reason`` (or of ``same_decision``, where reasons are not
            compared).
        is_by_reason: Whether reasons count.
        differences: How many documents differ in which way.
        examples: Some of their ids, by way.
        left_out: Documents on which the peer has no decision, or more than one; not among ``documents``.
    """

    filter_name: str
    corpus: str
    documents: int
    same_decision: int
    same_reason: int
    min_fraction: float
    is_by_reason: bool = True
    differences: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)
    left_out: int = 0

    @property
    def fraction(self) -> float:
        """Fraction of documents that agree."""
        return (self.same_reason if self.is_by_reason else self.same_decision) / max(self.documents, 1)

    @property
    def is_enough(self) -> bool:
        return self.fraction >= self.min_fraction

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "fraction": round(self.fraction, 6), "is_enough": self.is_enough}


def compare(
    names: tuple[str, str],
    ids: Sequence[str],
    outcomes: tuple[Sequence[str | None], Sequence[str | None]],
    *,
    min_fraction: float,
    by_reason: bool = True,
    why: Sequence[str] | None = None,
    left_out: int = 0,
) -> Agreement:
    """Compare ours with theirs.

    >>> found = compare(("f", "c"), ["1", "2"], ([None, "short"], [None, "long"]), min_fraction=1.0)
    >>> found.same_decision, found.same_reason, found.differences, found.is_enough
    (2, 1, {'ours short, theirs long': 1}, False)

    Args:
        names: Of the filter and the corpus.
        ids: Of the documents.
        outcomes: Our and their reason to drop each document; None where it is kept.
        min_fraction: Smallest acceptable fraction.
        by_reason: Whether reasons count, or only whether a document is kept.
        why: What may explain a difference, for every document; added to the way in which it differs.
        left_out: How many documents are not compared.
    """
    ways: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    same_decision = same_reason = 0
    for number, (ours, theirs) in enumerate(zip(*outcomes, strict=True)):
        same_reason += ours == theirs
        same_decision += (ours is None) == (theirs is None)
        if (ours != theirs) if by_reason else ((ours is None) != (theirs is None)):
            way = f"ours {ours or 'kept'}, theirs {theirs or 'kept'}" + (f"; {why[number]}" if why else "")
            ways[way] += 1
            if len(examples.setdefault(way, [])) < _EXAMPLES:
                examples[way].append(ids[number])
    return Agreement(
        *names,
        documents=len(ids),
        same_decision=same_decision,
        same_reason=same_reason,
        min_fraction=min_fraction,
        is_by_reason=by_reason,
        differences=dict(ways.most_common()),
        examples=examples,
        left_out=left_out,
    )
