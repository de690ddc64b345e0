"""Drop documents with few characters per token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import Filter, Verdict, check_model_name, find_model_folder
from curator_text.models.token_encoder import count_tokens
from curator_text.models.tokenizer_loading import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import NodeInfo, TableBatch, WorkerInfo

__all__ = ["TokenizerFertility"]

_NO_TOKENS = -1.0  # the score of NeMo Curator for a document without tokens


@dataclass
class TokenizerFertility(Filter):
    """Keep documents with at least ``min_char_to_token_ratio`` characters per token.

    Text that is unlike what the tokenizer was trained on (encoded data, minified code, other scripts) comes out in many
    short tokens. Definition and default are those of NeMo Curator's ``TokenizerFertilityFilter`` for code: code points
    divided by tokens without special ones. That filter takes SentencePiece models only; give the ``tokenizer.json`` of
    the same model here. A document without tokens has ratio -1.

    >>> TokenizerFertility("gpt2").min_char_to_token_ratio
    2.5

    Args:
        tokenizer: A folder with a ``tokenizer.json``, such a file itself, or an id on the Hugging Face hub.
        min_char_to_token_ratio: Minimum ratio to keep a document.
        text_column: Column with the text.
    """

    tokenizer: str
    min_char_to_token_ratio: float = 2.5
    text_column: str = "text"

    name = "text.tokenizer_fertility"

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
        import polars as pl

        texts = batch.text(self.text_column)
        tokens = count_tokens(self._tokenizer, texts)
        ratio = texts.str.len_chars() / tokens
        ratio = pl.select(pl.when(tokens == 0).then(_NO_TOKENS).otherwise(ratio)).to_series()
        return Verdict(ratio, {"low_fertility": ratio < self.min_char_to_token_ratio})
