"""Run a network over token lists: the common base of the stages for classification and embedding."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from curator_core.sdk import ConfigError, ModelStage, Precision, StageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import torch

    from curator_core.sdk import Columns, TableBatch

__all__ = ["Network", "TokenModel", "check_batches", "padded"]

_CPU_TOKENS = 2_048  # a CPU computes no faster with larger batches, and pads more
_GPU_TOKENS = 32_768


class Network(Protocol):
    """A model with its head: ids and mask in, one row of numbers per text out."""

    @property
    def module(self) -> torch.nn.Module:
        """The weights."""

    @property
    def pad_id(self) -> int:
        """Token that fills short rows."""

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return one row of numbers per text."""


@dataclass
class TokenModel(ModelStage):
    """Base of stages that run a network over token lists; a subclass loads it and interprets its numbers.

    Args:
        model: A folder, or an id on the hub.
        tokens_column: Column with the token ids.
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
    keep_tokens: bool = field(default=False, kw_only=True)
    model_batch_size: int = field(default=256, kw_only=True)
    max_tokens_per_batch: int | None = field(default=None, kw_only=True)
    device: str = field(default="auto", kw_only=True)
    precision: Precision = field(default="auto", kw_only=True)
    allow_pickle: bool = field(default=False, kw_only=True)
    trust_remote_code: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_batches(self.name, self.model_batch_size, self.max_tokens_per_batch)

    @abstractmethod
    def load_network(self, folder: Path) -> Network:
        """Return the network of a model's folder."""

    @abstractmethod
    def columns_of_numbers(self, network: Any, numbers: np.ndarray) -> dict[str, Any]:
        """Return the columns for the network's output for some rows."""

    def inputs(self) -> Columns:
        return [self.tokens_column]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        left = columns if self.keep_tokens else columns - {self.tokens_column}
        return super().columns_after(left)

    def weights(self) -> str:
        return self.model

    def load(self, device: str) -> Network:
        self._max_tokens = self.max_tokens_per_batch or (_CPU_TOKENS if device == "cpu" else _GPU_TOKENS)
        return self.load_network(self.weights_folder())

    def prepare(self, model: Network, batch: TableBatch) -> Iterator[np.ndarray | None]:  # noqa: ARG002
        batch.check_column(self.tokens_column)
        column = batch.data.column(self.tokens_column)
        kind = column.type
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        if not is_list or not pa.types.is_integer(kind.value_type):
            raise StageError(
                f"{self.name}: column {self.tokens_column!r} holds {kind}, not lists of token ids",
                fix="name the column that text.tokenize has added",
            )
        for chunk in column.chunks:
            values, ends = chunk.values.to_numpy(zero_copy_only=False), chunk.offsets.to_numpy()
            for index, is_valid in enumerate(chunk.is_valid().to_numpy(zero_copy_only=False)):
                row = values[ends[index] : ends[index + 1]]
                yield row if is_valid and len(row) else None

    def lengths(self, rows: Sequence[np.ndarray]) -> list[int]:
        return [len(row) for row in rows]

    def batch_limit(self, longest: int) -> int:
        return min(self.model_batch_size, self._max_tokens // longest)

    def predict(self, model: Network, rows: Sequence[np.ndarray]) -> dict[str, Any]:
        import torch

        ids, mask = (torch.from_numpy(each).to(self.model_device) for each in padded(rows, model.pad_id))
        return self.columns_of_numbers(model, model(ids, mask).float().cpu().numpy())

    def complete(self, batch: TableBatch) -> TableBatch | None:
        return batch if self.keep_tokens else batch.with_data(batch.data.drop_columns([self.tokens_column]))


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
