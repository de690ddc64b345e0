"""Run a network over token lists: batches of similar length, results in row order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from curator_core.sdk import StageError, autocast_for, choose_device
from curator_text.models.model_batches import TokenRows, length_batches

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

    from curator_core.sdk import TableBatch
    from curator_text.models.model_settings import ModelSettings

__all__ = ["ModelRunner", "Network"]


class Network(Protocol):
    """A model with whatever follows it: ids and mask in, one row of numbers per text out."""

    @property
    def module(self) -> torch.nn.Module:
        """The weights."""

    @property
    def width(self) -> int:
        """How many numbers come out per text."""

    @property
    def pad_id(self) -> int:
        """Token that fills short rows."""

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return one row of numbers per text."""


class ModelRunner:
    """A network on its device.

    Args:
        network: The network.
        settings: How it is fed.
        stage: Name of the stage, for messages.
        gpu_allowed: Whether it may choose a GPU where the device is ``auto``.
    """

    def __init__(self, network: Network, settings: ModelSettings, *, stage: str, gpu_allowed: bool = True) -> None:
        self._network = network
        self._settings = settings
        self._stage = stage
        self._device = choose_device(settings.device, stage=stage, gpu_allowed=gpu_allowed)
        network.module.eval().requires_grad_(requires_grad=False).to(self._device)

    @property
    def width(self) -> int:
        """How many numbers come out per row."""
        return self._network.width

    def run(self, tasks: Sequence[TableBatch], tokens_field: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers for all rows of all tasks, and which rows have any: those with tokens."""
        import torch

        rows = TokenRows.from_columns([self._tokens(task, tokens_field) for task in tasks])
        results = np.zeros((len(rows.lengths), self.width), dtype=np.float32)
        settings = self._settings
        with torch.inference_mode(), autocast_for(self._device, settings.precision):
            for batch in length_batches(
                rows.lengths,
                max_rows=settings.model_batch_size,
                max_tokens=settings.tokens_per_batch(self._device.type),
            ):
                self._forward(rows, batch, results)
        return results, rows.lengths > 0

    def _forward(self, rows: TokenRows, batch: np.ndarray, results: np.ndarray) -> None:
        import torch

        ids, mask = rows.padded(batch, self._network.pad_id)
        try:
            numbers = self._network(
                torch.from_numpy(ids).to(self._device), torch.from_numpy(mask).to(self._device, torch.int64)
            )
            results[batch] = numbers.float().cpu().numpy()
        except torch.OutOfMemoryError:
            if len(batch) == 1:
                raise
            halves = np.array_split(batch, 2)
        else:
            return
        torch.cuda.empty_cache()
        for half in halves:  # outside of the handler, which keeps the failed call's tensors alive
            self._forward(rows, half, results)

    def _tokens(self, task: TableBatch, tokens_field: str) -> object:
        import pyarrow as pa

        task.check_column(tokens_field)
        column = task.data.column(tokens_field)
        kind = column.type
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        if not is_list or not pa.types.is_integer(kind.value_type):
            raise StageError(
                f"{self._stage}: column {tokens_field!r} holds {kind}, not lists of token ids",
                fix="name the column that text.tokenize has added",
            )
        return column
