"""Add the token ids of each document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from curator_core.sdk import ConfigError, ProcessingStage, TableBatch, check_model_name, find_model_folder
from curator_text.models.token_encoder import TokenEncoder
from curator_text.models.tokenizer_loading import load_tokenizer, max_input_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import Columns, NodeInfo, WorkerInfo

__all__ = ["Tokenize"]


@dataclass
class Tokenize(ProcessingStage[TableBatch, TableBatch]):
    """Add a list of token ids per document, cut to the input length of a model, with its special tokens.

    The lists are Arrow lists of 32-bit integers; the length of a list is its attention mask. Runs on CPUs, apart from
    the model, so that a GPU never waits for text to be split. A null text gets a null.

    >>> [field for field in Tokenize("bert-base-uncased", tokens_column="ids").outputs()]
    ['ids']

    Args:
        tokenizer: A folder with a ``tokenizer.json``, such a file itself, or an id on the Hugging Face hub.
        max_length: Maximum number of tokens of a document, special tokens included; what the model's files say unless
            given.
        max_chars: Maximum number of characters of a document to look at; no limit but ``max_length`` unless given.
        text_column: Column with the text.
        tokens_column: Column to add.
    """

    tokenizer: str
    max_length: int | None = None
    max_chars: int | None = None
    text_column: str = "text"
    tokens_column: str = "tokens"

    name = "text.tokenize"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for parameter in ("max_length", "max_chars"):
            value = getattr(self, parameter)
            if value is not None and value < 1:
                raise ConfigError(f"{self.name}: {parameter} must be at least 1, got {value}")

    def inputs(self) -> Columns:
        return [self.text_column]

    def outputs(self) -> Columns:
        return [self.tokens_column]

    def preflight(self) -> Sequence[str] | None:
        check_model_name(self.name, self.tokenizer, what="tokenizer")
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002
        find_model_folder(self.tokenizer, stage=self.name, weights=False)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        folder = find_model_folder(self.tokenizer, stage=self.name, weights=False)
        max_length = self.max_length or max_input_length(folder)
        tokenizer = load_tokenizer(self.tokenizer, stage=self.name)
        self._encoder = TokenEncoder(tokenizer, max_length=max_length, max_chars=self.max_chars)

    def teardown(self) -> None:
        self.__dict__.pop("_encoder", None)

    def process(self, task: TableBatch) -> TableBatch:
        return task.with_column(self.tokens_column, self._encoder.encode(task.text(self.text_column)))
