"""Add the number of tokens of each document, and drop documents by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from curator_core.sdk import (
    Filter,
    ProcessingStage,
    TableBatch,
    Verdict,
    check_model_name,
    check_range,
    find_model_folder,
)
from curator_text.models.token_encoder import count_tokens
from curator_text.models.tokenizer_loading import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import Columns, NodeInfo, WorkerInfo

__all__ = ["AddTokenCount"]


@dataclass
class AddTokenCount(ProcessingStage[TableBatch, TableBatch]):
    """Add the number of tokens of each document; with limits, drop documents outside of them.

    Only the counts are kept, never the tokens. Tokenising is the slowest of the cheap stages (some 3 MB/s per core), so
    count after the filters. Documents of more than a million characters are counted in pieces, cut before a space. A
    null text gets a null, and is dropped where there are limits.

    >>> AddTokenCount("gpt2", column="n_tokens").outputs()
    ['n_tokens']

    Args:
        tokenizer: A folder with a ``tokenizer.json``, such a file itself, or an id on the Hugging Face hub.
        column: Column to add.
        min_tokens: Minimum number of tokens to keep a document; no limit unless given.
        max_tokens: Maximum number of tokens to keep a document; no limit unless given.
        add_special_tokens: Also count the tokens that the tokenizer puts around a text.
        text_column: Column with the text.
    """

    tokenizer: str
    column: str = "token_count"
    min_tokens: int | None = None
    max_tokens: int | None = None
    add_special_tokens: bool = False
    text_column: str = "text"

    name = "text.add_token_count"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_range(self.name, min_tokens=self.min_tokens, max_tokens=self.max_tokens)

    def inputs(self) -> Columns:
        return [self.text_column]

    def outputs(self) -> Columns:
        return [self.column]

    def preflight(self) -> Sequence[str] | None:
        check_model_name(self.name, self.tokenizer, what="tokenizer")
        return None

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002
        find_model_folder(self.tokenizer, stage=self.name, weights=False)

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        self._tokenizer = load_tokenizer(self.tokenizer, stage=self.name)
        self._tokenizer.no_truncation()

    def teardown(self) -> None:
        self.__dict__.pop("_tokenizer", None)

    def process(self, task: TableBatch) -> TableBatch | None:
        texts = task.text(self.text_column)
        counts = count_tokens(self._tokenizer, texts, add_special_tokens=self.add_special_tokens)
        counted = task.with_column(self.column, counts)
        if self.min_tokens is None and self.max_tokens is None:
            return counted
        limits = _Limits(self.column, self.min_tokens, self.max_tokens)
        return limits.with_(name=self.name).process(counted)


@dataclass
class _Limits(Filter):
    """Keep rows whose count is within limits."""

    column: str
    low: int | None
    high: int | None

    def judge(self, batch: TableBatch) -> Verdict:
        counts = batch.series(self.column)
        return Verdict.between(counts, self.low, self.high, below="too_few_tokens", above="too_many_tokens")
