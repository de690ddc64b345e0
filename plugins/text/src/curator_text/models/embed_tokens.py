"""Make vectors of token lists: the part of ``text.embed`` that runs the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from curator_core.models.model_folder import check_model_name, find_model_folder
from curator_core.models.torch_device import limit_threads, may_use_gpu, restore_threads
from curator_core.stage import ProcessingStage
from curator_core.tasks import TableBatch
from curator_text.models.embedding_network import load_embedding_network
from curator_text.models.model_runner import ModelRunner
from curator_text.models.model_settings import ModelSettings
from curator_text.models.sentence_layout import Pooling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from curator_core.stage import Columns, NodeInfo, WorkerInfo

__all__ = ["EmbedTokens"]


@dataclass
class EmbedTokens(ProcessingStage[TableBatch, TableBatch]):
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

    model: str
    tokens_field: str
    column: str = "embedding"
    pooling: Pooling = "auto"
    normalize: bool | None = None
    dimensions: int | None = None
    keep_tokens: bool = False
    settings: ModelSettings = field(default_factory=ModelSettings)

    name = "text.embed"
    fuse = False  # every worker has the weights in memory, so there are only as many as the model needs
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.tokens_field]

    def outputs(self) -> Columns:
        return [self.column]

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        return (columns if self.keep_tokens else columns - {self.tokens_field}) | {self.column}

    def preflight(self) -> Sequence[str] | None:
        check_model_name(self.name, self.model)
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002
        self._folder()

    def setup(self, worker: WorkerInfo) -> None:
        self._threads = limit_threads(self.resources.cpus)
        network = load_embedding_network(
            self._folder(),
            self.settings,
            pooling=self.pooling,
            normalize=self.normalize,
            dimensions=self.dimensions,
            stage=self.name,
        )
        self._runner = ModelRunner(
            network, self.settings, stage=self.name, gpu_allowed=may_use_gpu(self.resources, worker)
        )

    def teardown(self) -> None:
        if self.__dict__.pop("_runner", None) is not None:
            restore_threads(self._threads)

    def process_batch(self, tasks: list[TableBatch]) -> Sequence[TableBatch]:
        vectors, has_tokens = self._runner.run(tasks, self.tokens_field)
        outputs, begin = [], 0
        for task in tasks:
            end = begin + task.num_rows
            column = _vector_column(vectors[begin:end], has_tokens[begin:end])
            base = task if self.keep_tokens else task.with_data(task.data.drop_columns([self.tokens_field]))
            outputs.append(base.with_column(self.column, column))
            begin = end
        return outputs

    def _folder(self) -> Path:
        settings = self.settings
        return find_model_folder(
            self.model,
            stage=self.name,
            allow_pickle=settings.allow_pickle,
            trust_remote_code=settings.trust_remote_code,
        )


def _vector_column(vectors: np.ndarray, has_tokens: np.ndarray) -> pa.FixedSizeListArray:
    mask = None if has_tokens.all() else pa.array(~has_tokens)
    values = pa.array(vectors.reshape(-1), pa.float32())
    return pa.FixedSizeListArray.from_arrays(values, vectors.shape[1], mask=mask)
