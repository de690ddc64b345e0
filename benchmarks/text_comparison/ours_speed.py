"""curator's filters, timed in this process: ``python -m text_comparison.ours_speed whitespace|spacy_like``.

Dropping, a batch goes through one stage after another; with ``all``, every stage tags every document as it came.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from text_peers.serving import serve

from curator_core.authoring.stage import NodeInfo, WorkerInfo
from curator_text import DocumentBatch
from text_comparison.our_stages import heuristic_stages, quality_stages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def dropping(stages: Sequence[Any], texts: Any) -> int:
    """Send the texts through all stages, and count what is left."""
    batch: Any = _batch(texts)
    for stage in stages:
        batch = stage.process(batch)
        if batch is None:
            return 0
    return int(batch.num_rows)


def tagging(stages: Sequence[Any], texts: Any) -> int:
    """Let every stage tag the same texts, and count what none would drop."""
    batch = _batch(texts)
    reasons = [stage.process(batch).data[stage.tag_columns[1]].to_numpy() for stage in stages]
    return sum(all(reason is None for reason in row) for row in zip(*reasons, strict=True))


def _batch(texts: Any) -> DocumentBatch:
    return DocumentBatch(data=pa.table({"text": texts}))


def ready(stages: dict[str, Any]) -> list[Any]:
    for stage in stages.values():
        stage.setup_on_node(NodeInfo())
        stage.setup(WorkerInfo())
    return list(stages.values())


def when_asked(way: Callable[[Sequence[Any], Any], int], make: Callable[[], dict[str, Any]]) -> Callable[[Any], int]:
    """Return a case whose stages are made and set up when it is called first."""
    stages: list[Any] = []

    def case(texts: Any) -> int:
        if not stages:
            stages.extend(ready(make()))
        return way(stages, texts)

    return case


if __name__ == "__main__":
    words = sys.argv[1]
    pa.set_cpu_count(1)
    serve(
        {
            "quality dropping": when_asked(dropping, lambda: quality_stages(words, tag=False)),
            "quality all": when_asked(tagging, lambda: quality_stages(words, tag=True)),
            "heuristics dropping": when_asked(dropping, lambda: heuristic_stages(tag=False)),
            "heuristics all": when_asked(tagging, lambda: heuristic_stages(tag=True)),
        }
    )
