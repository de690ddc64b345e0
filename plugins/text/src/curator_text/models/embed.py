"""Add a vector per document, made by a transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.sdk import CompositeStage, ConfigError, Precision, TableBatch
from curator_text.models.sentence_layout import Pooling
from curator_text.models.token_model import EmbedTokens, check_batches
from curator_text.models.tokenize import Tokenize

if TYPE_CHECKING:
    from curator_core.sdk import Columns, ProcessingStage

__all__ = ["Embed"]


@dataclass
class Embed(CompositeStage[TableBatch, TableBatch]):
    """Add the vector that a model makes of each document, as a fixed-size list of 32-bit floats.

    Stands for two stages: ``text.embed.tokenize``, which runs on CPUs, and the model, which gets the resources and
    other options of this stage: ``Embed(...).with_(resources=Resources(gpus=0.25))``. A CPU worker uses as many threads
    as ``resources`` gives it CPUs. Models in the layout of sentence-transformers are run as their folder says (pooling,
    linear layers, normalisation); any other is pooled by the mean.

    The model sees rows of similar length together, and puts its results back into row order. With
    ``with_(batch_size=8)`` it shares batches among the rows of up to eight tasks, which fills a GPU after filters that
    leave few rows in each; then the last bits of the floats can depend on which tasks happened to meet. By default they
    depend on a task's own rows only. A null text, and one without a token, gets a null.

    >>> [part.name for part in Embed("intfloat/e5-small-v2").decompose()]
    ['text.embed.tokenize', 'text.embed']

    Args:
        model: Folder with ``config.json`` and ``model.safetensors``, or an id on the Hugging Face hub.
        column: Column to add.
        text_column: Column with the text.
        pooling: How token vectors become one: ``mean``, ``cls`` (the first) or ``last``; ``auto`` is what the model's
            folder says, else the mean.
        normalize: Scale vectors to length one; the setting in the model's folder unless given.
        dimensions: Keep only this number of leading values, for models trained for that (Matryoshka), before scaling.
        max_length: Maximum number of tokens of a document; the setting in the model's folder unless given.
        max_chars: Maximum number of characters of a document to look at; no limit but ``max_length`` unless given.
        tokens_column: Column with token ids that ``text.tokenize`` has added; nothing is tokenised here then.
        model_batch_size: Maximum number of rows per call of the model.
        max_tokens_per_batch: Maximum number of tokens, padding included, per call of the model; 2,048 on a CPU, where
            larger batches only pad more, and 32,768 elsewhere unless given.
        device: ``auto`` (a GPU where the worker has one), ``cpu``, ``cuda``, ``mps``.
        precision: Arithmetic on CUDA: ``float32``, ``bfloat16``, ``float16`` or the better of the last two; elsewhere
            always ``float32``.
        allow_pickle: Load weights that are not safetensors. Such files can run code.
        trust_remote_code: Run Python code that comes with the model.
    """

    model: str
    column: str = "embedding"
    text_column: str = "text"
    pooling: Pooling = "auto"
    normalize: bool | None = None
    dimensions: int | None = None
    max_length: int | None = None
    max_chars: int | None = None
    tokens_column: str | None = None
    model_batch_size: int = 256
    max_tokens_per_batch: int | None = None
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False

    name = "text.embed"

    def __post_init__(self) -> None:
        if self.dimensions is not None and self.dimensions < 1:
            raise ConfigError(f"{self.name}: dimensions must be at least 1, got {self.dimensions}")
        check_batches(self.name, self.model_batch_size, self.max_tokens_per_batch)

    def inputs(self) -> Columns:
        return [self.tokens_column or self.text_column]

    def outputs(self) -> Columns:
        return [self.column]

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        tokens_column = self.tokens_column or f"_{self.column}_tokens"
        own = {"tokens_column": tokens_column, "keep_tokens": self.tokens_column is not None}
        embed = EmbedTokens(**{**self.values_for(EmbedTokens), **own})
        if self.tokens_column is not None:
            return [embed]
        tokenize = Tokenize(
            self.model,
            max_length=self.max_length,
            max_chars=self.max_chars,
            text_column=self.text_column,
            tokens_column=tokens_column,
        )
        return [tokenize.with_(name=f"{type(self).name}.tokenize"), embed]
