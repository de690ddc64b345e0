"""Make vectors of token lists: the part of ``text.embed`` that runs the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from curator_text.models.embedding_network import load_embedding_network
from curator_text.models.token_model import TokenModel

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from curator_core.sdk import Columns, TableBatch
    from curator_text.models.sentence_layout import Pooling

__all__ = ["EmbedTokens"]


@dataclass
class EmbedTokens(TokenModel):
    """Add the vector that a model makes of each token list.

    Args:
        model: A folder, or an id on the hub.
        tokens_field: Column with the token ids.
        column: Column to add.
        pooling: How token vectors are joined.
        normalize: Whether vectors get length one.
        dimensions: How many of the first numbers are kept.
        keep_tokens: Whether the token ids stay in the table.
        settings: How the model is loaded and fed.
    """

    column: str = "embedding"
    pooling: Pooling = "auto"
    normalize: bool | None = None
    dimensions: int | None = None

    name = "text.embed"

    def outputs(self) -> Columns:
        return [self.column]

    def load(self, folder: Path) -> Any:
        return load_embedding_network(
            folder,
            self.settings,
            pooling=self.pooling,
            normalize=self.normalize,
            dimensions=self.dimensions,
            stage=self.name,
        )

    def with_results(self, batch: TableBatch, numbers: np.ndarray, has_tokens: np.ndarray) -> TableBatch:
        return batch.with_column(self.column, _vector_column(numbers, has_tokens))


def _vector_column(vectors: np.ndarray, has_tokens: np.ndarray) -> pa.FixedSizeListArray:
    mask = None if has_tokens.all() else pa.array(~has_tokens)
    values = pa.array(vectors.reshape(-1), pa.float32())
    return pa.FixedSizeListArray.from_arrays(values, vectors.shape[1], mask=mask)
