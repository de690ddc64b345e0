"""Drop documents that a language model finds too surprising, or not surprising enough."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.sdk import ConfigError, Filter, StageError, Verdict, check_range
from curator_text.models.tokenizer_loading import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import TableBatch, WorkerInfo

__all__ = ["Perplexity"]


@dataclass
class Perplexity(Filter):
    """Keep documents whose perplexity under a KenLM model is between two limits.

    Lines are scored as sentences and their log probabilities summed, as CCNet does (Wenzek et al. 2020): perplexity is
    ``10 ** (-sum(log10 p) / (words + lines))``, each line with its end of sentence. A document without words has no
    perplexity. Give the tokenizer that the model was trained with, if it was not trained on plain words.

    >>> Perplexity("en.arpa.bin", max_perplexity=1500).inputs()
    ['text']

    Args:
        model: An ARPA or KenLM binary file on disk.
        min_perplexity: Minimum perplexity to keep a document; no limit unless given.
        max_perplexity: Maximum perplexity to keep a document; no limit unless given.
        tokenizer: Tokenizer whose pieces the model knows: a ``tokenizer.json``, a folder with one, or an id on the
            hub. Words between spaces unless given.
        lowercase: Score the text in lower case.
        text_column: Column with the text.
    """

    model: str
    min_perplexity: float | None = None
    max_perplexity: float | None = None
    tokenizer: str | None = None
    lowercase: bool = False
    text_column: str = "text"

    name = "text.perplexity"

    def __post_init__(self) -> None:
        check_range(self.name, min_perplexity=self.min_perplexity, max_perplexity=self.max_perplexity)

    def preflight(self) -> Sequence[str] | None:
        self._check_file()
        return None

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        import kenlm

        self._check_file()
        try:
            self._kenlm = kenlm.Model(str(Path(self.model).expanduser()))
        except OSError as error:
            raise StageError(
                f"{self.name}: {self.model!r} is not a model of KenLM: {error}", fix="give an ARPA or binary file"
            ) from error
        self._splitter = None if self.tokenizer is None else load_tokenizer(self.tokenizer, stage=self.name)

    def teardown(self) -> None:
        self.__dict__.pop("_kenlm", None)
        self.__dict__.pop("_splitter", None)

    def judge(self, batch: TableBatch) -> Verdict:
        import polars as pl

        texts = batch.text(self.text_column)
        if self.lowercase:
            texts = texts.str.to_lowercase()
        found = [None if text is None else self._perplexity(text) for text in texts.to_list()]
        score = pl.Series(found, dtype=pl.Float64)
        limits = self.min_perplexity, self.max_perplexity
        return Verdict.between(score, *limits, below="low_perplexity", above="high_perplexity")

    def _perplexity(self, text: str) -> float | None:
        log_probability, count = 0.0, 0
        for line in text.splitlines():
            words = (
                line.split() if self._splitter is None else self._splitter.encode(line, add_special_tokens=False).tokens
            )
            if words:
                log_probability += self._kenlm.score(" ".join(words))
                count += len(words) + 1
        return None if not count else float(10.0 ** min(-log_probability / count, 300.0))

    def _check_file(self) -> None:
        if not Path(self.model).expanduser().is_file():
            raise ConfigError(f"{self.name}: there is no model file {self.model!r}", fix="give an ARPA or binary file")
