"""Classify token lists: the part of ``text.classify`` that runs the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from curator_core.errors import UnknownNameError
from curator_core.models.model_folder import check_model_name, find_model_folder
from curator_core.models.torch_device import limit_threads, may_use_gpu, restore_threads
from curator_core.stage import ProcessingStage
from curator_core.tasks import TableBatch
from curator_text.models.classifier_network import Head, load_classifier_network
from curator_text.models.keep_labels import KeepLabels
from curator_text.models.label_columns import LabelColumns
from curator_text.models.model_runner import ModelRunner
from curator_text.models.model_settings import ModelSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from curator_core.stage import Columns, NodeInfo, WorkerInfo

__all__ = ["ClassifyTokens"]


@dataclass
class ClassifyTokens(ProcessingStage[TableBatch, TableBatch]):
    """Add what a classifier says of each token list, and drop rows by it where asked.

    Args:
        model: A folder, or an id on the hub.
        tokens_field: Column with the token ids.
        columns: Columns to add.
        head: What is made of the model's logits.
        keep: Labels to keep; all unless given.
        min_score: Lowest score to keep; any unless given.
        save_dropped: Write dropped rows to the run directory.
        keep_tokens: Whether the token ids stay in the table.
        settings: How the model is loaded and fed.
    """

    model: str
    tokens_field: str
    columns: LabelColumns = field(default_factory=LabelColumns)
    head: Head = "auto"
    keep: list[str] | None = None
    min_score: float | None = None
    save_dropped: bool = False
    keep_tokens: bool = False
    settings: ModelSettings = field(default_factory=ModelSettings)

    name = "text.classify"
    fuse = False  # every worker has the weights in memory, so there are only as many as the model needs
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.tokens_field]

    def outputs(self) -> Columns:
        return self.columns.names

    def columns_after(self, columns: frozenset[str]) -> frozenset[str]:
        return (columns if self.keep_tokens else columns - {self.tokens_field}) | frozenset(self.columns.names)

    def preflight(self) -> Sequence[str] | None:
        check_model_name(self.name, self.model)
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002
        self._folder()

    def setup(self, worker: WorkerInfo) -> None:
        self._threads = limit_threads(self.resources.cpus)
        self._network = load_classifier_network(self._folder(), self.settings, head=self.head, stage=self.name)
        known = self._network.labels
        if self._network.head != "regression":
            for label in self.keep or ():
                if label not in known:
                    raise UnknownNameError(f"label for {self.name}:", label, known, fix=f"known: {', '.join(known)}")
        self._runner = ModelRunner(
            self._network, self.settings, stage=self.name, gpu_allowed=may_use_gpu(self.resources, worker)
        )

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
            output = task if self.keep_tokens else task.with_data(task.data.drop_columns([self.tokens_field]))
            for name, column in self.columns.of(
                numbers[begin:end],
                self._network.labels,
                has_tokens=has_tokens[begin:end],
                is_regression=self._network.head == "regression",
            ):
                output = output.with_column(name, column)
            outputs.append(self._kept(output))
            begin = end
        return outputs

    def _kept(self, batch: TableBatch) -> TableBatch | None:
        if self.keep is None and self.min_score is None:
            return batch
        limits = KeepLabels(
            self.columns.label_field,
            self.columns.score_field,
            keep=self.keep,
            min_score=self.min_score,
            save_dropped=self.save_dropped,
        )
        return limits.with_(name=self.name).process(batch)

    def _folder(self) -> Path:
        settings = self.settings
        return find_model_folder(
            self.model,
            stage=self.name,
            allow_pickle=settings.allow_pickle,
            trust_remote_code=settings.trust_remote_code,
        )
