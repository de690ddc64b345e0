"""What curator's stages decide about every document of a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from curator_core.authoring.stage import NodeInfo, WorkerInfo
from curator_text import DocumentBatch

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl


def tagged(texts: pa.ChunkedArray, stages: dict[str, Any]) -> dict[str, pl.DataFrame]:
    """Return ``score``, ``reason`` and ``text`` of every document after each stage; all stages see the same texts.

    Args:
        texts: The documents.
        stages: Filters that tag, by name.
    """
    found: dict[str, pl.DataFrame] = {}
    documents = DocumentBatch(data=pa.table({"text": texts}))
    for name, stage in stages.items():
        stage.setup_on_node(NodeInfo())
        stage.setup(WorkerInfo())
        batch = stage.process(documents)
        score, reason = stage.tag_columns
        found[name] = batch.frame.select("text", score, reason).rename({score: "score", reason: "reason"})
    return found


def texts_of(path: Path) -> pa.ChunkedArray:
    return pq.read_table(path, columns=["text"])["text"]
