"""Make vectors of token lists: the part of ``text.embed`` that runs the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from curator_text.models.embedding_network import load_embedding_network
from curator_text.models.token_model import TokenModel

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from curator_core.sdk import Columns
    from curator_text.models.embedding_network import EmbeddingNetwork
    from curator_text.models.sentence_layout import Pooling

__all__ = ["EmbedTokens"]


@dataclass
class EmbedTokens(TokenModel):
    """Add the vector that a model makes of each token list.

    Args:
        column: Column to add.
        pooling: How token vectors are joined.
        normalize: Whether vectors get length one.
        dimensions: How many of the first numbers are kept.
    """

    column: str = "embedding"
    pooling: Pooling = "auto"
    normalize: bool | None = None
    dimensions: int | None = None

    name = "text.embed"

    def outputs(self) -> Columns:
        return [self.column]

    def load_network(self, folder: Path) -> EmbeddingNetwork:
        return load_embedding_network(
            folder,
            self,
            pooling=self.pooling,
            normalize=self.normalize,
            dimensions=self.dimensions,
            stage=self.name,
        )

    def output_types(self, model: EmbeddingNetwork) -> dict[str, pa.DataType]:
        return {self.column: pa.list_(pa.float32(), model.width)}

    def columns_of_numbers(self, network: EmbeddingNetwork, numbers: np.ndarray) -> dict[str, np.ndarray]:  # noqa: ARG002
        return {self.column: numbers}
