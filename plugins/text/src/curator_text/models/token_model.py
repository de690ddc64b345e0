"""Run a model over token lists: what the model stages of classification and embedding share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import (
    ProcessingStage,
    TableBatch,
    check_model_name,
    find_model_folder,
    limit_threads,
    may_use_gpu,
    restore_threads,
)
from curator_text.models.model_runner import ModelRunner
from curator_text.models.model_settings import ModelSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from curator_core.sdk import Columns, NodeInfo, WorkerInfo

__all__ = ["TokenModel"]


@dataclass
class TokenModel(ProcessingStage[TableBatch, TableBatch]):
    """Base of stages that run a model over token lists; a subclass loads it and says what its numbers mean.

    Args:
        model: A folder, or an id on the hub.
        tokens_field: Column with the token ids.
        keep_tokens: Whether the token ids stay in the table.
        settings: How the model is loaded and fed.
    """

    model: str
    tokens_field: str
    keep_tokens: bool = field(default=False, kw_only=True)
    settings: ModelSettings = field(default_factory=ModelSettings, kw_only=True)

    fuse = False  # every worker has the weights in memory, so there are only as many as the model needs
    row_wise: ClassVar[bool] = True

    @abstractmethod
    def load(self, folder: Path) -> Any:
        """Return the network of a model's folder."""

    @abstractmethod
    def with_results(self, batch: TableBatch, numbers: np.ndarray, has_tokens: np.ndarray) -> TableBatch | None:
        """Add to a batch what the model made of its rows.

        Args:
            batch: The rows.
            numbers: A row of numbers for each.
            has_tokens: Which rows have tokens; the numbers of others mean nothing.
        """

    def inputs(self) -> Columns:
        return [self.tokens_field]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        left = columns if self.keep_tokens else columns - {self.tokens_field}
        return super().columns_after(left)

    def preflight(self) -> Sequence[str] | None:
        check_model_name(self.name, self.model)
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002
        self._folder()

    def setup(self, worker: WorkerInfo) -> None:
        self._threads = limit_threads(self.resources.cpus)
        self._network = self.load(self._folder())
        gpu_allowed = may_use_gpu(self.resources, worker)
        self._runner = ModelRunner(self._network, self.settings, stage=self.name, gpu_allowed=gpu_allowed)

    def teardown(self) -> None:
        self.__dict__.pop("_network", None)
        if self.__dict__.pop("_runner", None) is not None:
            restore_threads(self._threads)

    def process_batch(self, tasks: list[TableBatch]) -> Sequence[TableBatch | None]:
        numbers, has_tokens = self._runner.run(tasks, self.tokens_field)
        outputs: list[TableBatch | None] = []
        begin = 0
        for task in tasks:
            end = begin + task.num_rows
            base = task if self.keep_tokens else task.with_data(task.data.drop_columns([self.tokens_field]))
            outputs.append(self.with_results(base, numbers[begin:end], has_tokens[begin:end]))
            begin = end
        return outputs

    def _folder(self) -> Path:
        return find_model_folder(
            self.model,
            stage=self.name,
            allow_pickle=self.settings.allow_pickle,
            trust_remote_code=self.settings.trust_remote_code,
        )
