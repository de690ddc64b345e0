"""Run networks over token lists: the parts of ``text.classify`` and ``text.embed`` that run the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from curator_core.sdk import ConfigError, ModelStage, Precision, StageError, UnknownNameError
from curator_text.models.classifier_network import Head, load_classifier_network
from curator_text.models.embedding_network import load_embedding_network
from curator_text.models.keep_labels import KeepLabels
from curator_text.models.label_columns import LabelColumns
from curator_text.models.sentence_layout import Pooling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import Columns, TableBatch
    from curator_text.models.classifier_network import ClassifierNetwork
    from curator_text.models.embedding_network import EmbeddingNetwork

__all__ = ["ClassifyTokens", "EmbedTokens", "check_batches", "padded"]

_CPU_TOKENS = 2_048  # a CPU computes no faster with larger batches, and pads more
_GPU_TOKENS = 32_768
_REGRESSION = "regression"


@dataclass
class ClassifyTokens(ModelStage):
    """Add what a classifier says of each token list, and drop rows by it where asked.

    Args:
        model: A folder, or an id on the hub.
        tokens_column: Column with the token ids.
        columns: Columns to add.
        head: What is made of the model's logits.
        keep: Labels to keep; all unless given.
        min_score: Lowest score to keep; any unless given.
        save_dropped: Write dropped rows to the run directory.
        keep_tokens: Whether the token ids stay in the table.
        model_batch_size: Most rows in one call of the model.
        max_tokens_per_batch: Most tokens, padding included, in one call of the model; chosen by device unless given.
        device: ``auto``, or a device of torch.
        precision: Arithmetic on CUDA.
        allow_pickle: Load weights that are pickles.
        trust_remote_code: Run Python code that comes with the model.
    """

    model: str
    tokens_column: str
    columns: LabelColumns = field(default_factory=LabelColumns)
    head: Head = "auto"
    keep: list[str] | None = None
    min_score: float | None = None
    save_dropped: bool = False
    keep_tokens: bool = field(default=False, kw_only=True)
    model_batch_size: int = field(default=256, kw_only=True)
    max_tokens_per_batch: int | None = field(default=None, kw_only=True)
    device: str = field(default="auto", kw_only=True)
    precision: Precision = field(default="auto", kw_only=True)
    allow_pickle: bool = field(default=False, kw_only=True)
    trust_remote_code: bool = field(default=False, kw_only=True)

    name = "text.classify"

    def __post_init__(self) -> None:
        check_batches(self.name, self.model_batch_size, self.max_tokens_per_batch)

    def inputs(self) -> Columns:
        return [self.tokens_column]

    def outputs(self) -> Columns:
        return self.columns.names

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        return super().columns_after(columns if self.keep_tokens else columns - {self.tokens_column})

    def weights(self) -> str:
        return self.model

    def load(self, device: str) -> ClassifierNetwork:  # noqa: ARG002 - the base puts it there
        network = load_classifier_network(self.weights_folder(), self, head=self.head, stage=self.name)
        known = network.labels
        for label in (self.keep or ()) if network.head != _REGRESSION else ():
            if label not in known:
                raise UnknownNameError(f"label for {self.name}:", label, known, fix=f"known: {', '.join(known)}")
        return network

    def prepare(self, model: ClassifierNetwork, batch: TableBatch) -> Iterator[np.ndarray | None]:  # noqa: ARG002
        return _token_rows(self, batch)

    def lengths(self, rows: Sequence[np.ndarray]) -> list[int]:
        return [len(row) for row in rows]

    def batch_limit(self, longest: int) -> int:
        return _rows_that_fit(self, longest)

    def output_types(self, model: ClassifierNetwork) -> dict[str, pa.DataType]:
        nothing = np.zeros((0, model.width), np.float32)
        return {name: column.type for name, column in self._columns_of(model, nothing).items()}

    def predict(self, model: ClassifierNetwork, rows: Sequence[np.ndarray]) -> dict[str, pa.Array]:
        return self._columns_of(model, _numbers(model, rows, self.model_device))

    def _columns_of(self, network: ClassifierNetwork, numbers: np.ndarray) -> dict[str, pa.Array]:
        return dict(self.columns.of(numbers, network.labels, is_regression=network.head == _REGRESSION))

    def complete(self, batch: TableBatch) -> TableBatch | None:
        left = _without_tokens(self, batch)
        if self.keep is None and self.min_score is None:
            return left
        limits = KeepLabels(
            self.columns.label_column,
            self.columns.score_column,
            keep=self.keep,
            min_score=self.min_score,
            save_dropped=self.save_dropped,
        )
        return limits.with_(name=self.name).process(left)


@dataclass
class EmbedTokens(ModelStage):
    """Add the vector that a model makes of each token list.

    Args:
        model: A folder, or an id on the hub.
        tokens_column: Column with the token ids.
        column: Column to add.
        pooling: How token vectors are joined.
        normalize: Whether vectors get length one.
        dimensions: How many of the first numbers are kept.
        keep_tokens: Whether the token ids stay in the table.
        model_batch_size: Maximum number of rows per call of the model.
        max_tokens_per_batch: Maximum number of tokens, padding included, per call of the model; chosen by device unless
            given.
        device: ``auto``, or a device of torch.
        precision: Arithmetic on CUDA.
        allow_pickle: Load weights that are pickles.
        trust_remote_code: Run Python code that comes with the model.
    """

    model: str
    tokens_column: str
    column: str = "embedding"
    pooling: Pooling = "auto"
    normalize: bool | None = None
    dimensions: int | None = None
    keep_tokens: bool = field(default=False, kw_only=True)
    model_batch_size: int = field(default=256, kw_only=True)
    max_tokens_per_batch: int | None = field(default=None, kw_only=True)
    device: str = field(default="auto", kw_only=True)
    precision: Precision = field(default="auto", kw_only=True)
    allow_pickle: bool = field(default=False, kw_only=True)
    trust_remote_code: bool = field(default=False, kw_only=True)

    name = "text.embed"

    def __post_init__(self) -> None:
        check_batches(self.name, self.model_batch_size, self.max_tokens_per_batch)

    def inputs(self) -> Columns:
        return [self.tokens_column]

    def outputs(self) -> Columns:
        return [self.column]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        return super().columns_after(columns if self.keep_tokens else columns - {self.tokens_column})

    def weights(self) -> str:
        return self.model

    def load(self, device: str) -> EmbeddingNetwork:  # noqa: ARG002 - the base puts it there
        return load_embedding_network(
            self.weights_folder(),
            self,
            pooling=self.pooling,
            normalize=self.normalize,
            dimensions=self.dimensions,
            stage=self.name,
        )

    def prepare(self, model: EmbeddingNetwork, batch: TableBatch) -> Iterator[np.ndarray | None]:  # noqa: ARG002
        return _token_rows(self, batch)

    def lengths(self, rows: Sequence[np.ndarray]) -> list[int]:
        return [len(row) for row in rows]

    def batch_limit(self, longest: int) -> int:
        return _rows_that_fit(self, longest)

    def output_types(self, model: EmbeddingNetwork) -> dict[str, pa.DataType]:
        return {self.column: pa.list_(pa.float32(), model.width)}

    def predict(self, model: EmbeddingNetwork, rows: Sequence[np.ndarray]) -> np.ndarray:
        return _numbers(model, rows, self.model_device)

    def complete(self, batch: TableBatch) -> TableBatch:
        return _without_tokens(self, batch)


def _token_rows(stage: ClassifyTokens | EmbedTokens, batch: TableBatch) -> Iterator[np.ndarray | None]:
    """Yield the token ids of each row; None where there are none."""
    batch.check_column(stage.tokens_column)
    column = batch.data.column(stage.tokens_column)
    kind = column.type
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not is_list or not pa.types.is_integer(kind.value_type):
        raise StageError(
            f"{stage.name}: column {stage.tokens_column!r} holds {kind}, not lists of token ids",
            fix="name the column that text.tokenize has added",
        )
    for chunk in column.chunks:
        values, ends = chunk.values.to_numpy(zero_copy_only=False), chunk.offsets.to_numpy()
        for index, is_valid in enumerate(chunk.is_valid().to_numpy(zero_copy_only=False)):
            row = values[ends[index] : ends[index + 1]]
            yield row if is_valid and len(row) else None


def _rows_that_fit(stage: ClassifyTokens | EmbedTokens, longest: int) -> int:
    """Return how many rows to show to the network at once, given the tokens of the longest of them."""
    tokens = stage.max_tokens_per_batch or (_CPU_TOKENS if stage.model_device == "cpu" else _GPU_TOKENS)
    return min(stage.model_batch_size, tokens // longest)


def _numbers(network: ClassifierNetwork | EmbeddingNetwork, rows: Sequence[np.ndarray], device: str) -> np.ndarray:
    """Return what a network makes of token lists, a row of numbers for each."""
    import torch

    ids, mask = (torch.from_numpy(each).to(device) for each in padded(rows, network.pad_id))
    numbers: np.ndarray = network(ids, mask).float().cpu().numpy()
    return numbers


def _without_tokens(stage: ClassifyTokens | EmbedTokens, batch: TableBatch) -> TableBatch:
    return batch if stage.keep_tokens else batch.with_data(batch.data.drop_columns([stage.tokens_column]))


def check_batches(stage: str, rows: int, tokens: int | None) -> None:
    """Refuse sizes that cannot be meant.

    Raises:
        ConfigError: A size is less than one.
    """
    for name, value in (("model_batch_size", rows), ("max_tokens_per_batch", tokens)):
        if value is not None and value < 1:
            raise ConfigError(f"{stage}: {name} must be at least 1, got {value}")


def padded(rows: Sequence[np.ndarray], pad_id: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ids and attention mask of some rows, padded on the right to the longest of them.

    >>> ids, mask = padded([np.array([5, 6]), np.array([7])], pad_id=0)
    >>> ids.tolist(), mask.tolist()
    ([[5, 6], [7, 0]], [[1, 1], [1, 0]])
    """
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, pad_id, dtype=np.int64)
    ids[mask] = np.concatenate(rows)
    return ids, mask.astype(np.int64)
