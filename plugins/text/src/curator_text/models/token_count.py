"""Drop documents with too few or too many tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import Filter, Verdict, check_model_name, check_range, find_model_folder
from curator_text.models.token_encoder import count_tokens
from curator_text.models.tokenizer_loading import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import NodeInfo, TableBatch, WorkerInfo

__all__ = ["TokenCount"]


@dataclass
class TokenCount(Filter):
    """Keep documents of ``min_tokens`` to ``max_tokens`` tokens, special tokens included.

    Counts and defaults are those of NeMo Curator's ``TokenCountFilter``. To keep the numbers in a column, use
    ``text.add_token_count``.

    >>> TokenCount("gpt2", min_tokens=10).inputs()
    ['text']

    Args:
        tokenizer: A folder with a ``tokenizer.json``, such a file itself, or an id on the Hugging Face hub.
        min_tokens: Minimum number of tokens to keep a document.
        max_tokens: Maximum number of tokens to keep a document; no limit unless given.
        add_special_tokens: Also count the tokens that the tokenizer puts around a text.
        text_column: Column with the text.
    """

    tokenizer: str
    min_tokens: int = 0
    max_tokens: int | None = None
    add_special_tokens: bool = True
    text_column: str = "text"

    name = "text.token_count"

    def __post_init__(self) -> None:
        check_range(self.name, min_tokens=self.min_tokens, max_tokens=self.max_tokens)

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

    def judge(self, batch: TableBatch) -> Verdict:
        texts = batch.text(self.text_column)
        counts = count_tokens(self._tokenizer, texts, add_special_tokens=self.add_special_tokens)
        limits = self.min_tokens, self.max_tokens
        return Verdict.between(counts, *limits, below="too_few_tokens", above="too_many_tokens")
