"""Find the language of documents, and keep those in some languages."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

import polars as pl

from curator_core.sdk import ConfigError, Filter, MissingPackageError, Verdict
from curator_text.checks import check_fraction, check_positive
from curator_text.language.labels import cld2_labels, fasttext_labels, load_model, packaged_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.sdk import Columns, TableBatch, WorkerInfo

__all__ = ["FastTextLangId", "LanguageId"]

UNDETERMINED = "und"
"""ISO 639-2 for text that is in no language; here, text without a letter."""

DEFAULT_MAX_CHARS = 500
"""More hardly changes the answer and costs in proportion: 99.6 % at 400 characters and at all of them, 95.7 % at 80
(``benchmarks/text_language.py``, 32 languages)."""


@dataclass
class LanguageId(Filter):
    """Add the language of each document and how sure it is; drop documents in other languages where asked.

    Without ``keep`` and ``min_score`` no document is dropped. With them, a document in another language is dropped for
    the reason ``other_language``, one below the score for ``uncertain_language``, and one without text for
    ``missing_value``. A null text gets null; text without letters gets ``und`` and a score of 0.

    The languages are codes of ISO 639: ``en``, ``de``, ``zh``, …. With ``tag`` all documents come out, with
    ``language_id_score`` and ``language_id_reason``; ``invert`` keeps the documents that would be dropped.

    >>> from curator_text import DocumentBatch
    >>> texts = ["The weather is fine and the mountains are high.", "Das Wetter ist schön und die Berge sind hoch."]
    >>> stage = LanguageId(keep=["de"])
    >>> stage.process(DocumentBatch(data={"text": texts})).data["language"].to_pylist()
    ['de']

    Args:
        keep: Languages to keep; all, where None.
        min_score: Keep only documents with at least this score.
        max_chars: Characters of a document to look at; None for all. The rest hardly changes the answer.
        backend: ``fasttext`` (lid.176), or ``cld2`` (faster, less accurate; needs the extra ``cld2``).
        model: A fastText model in place of the packaged lid.176; its labels are the languages.
        text_column: Column with the text.
        language_column: Column for the language.
        score_column: Column for the score: fastText's probability, CLD2's share of the text.
        overwrite: Replace columns of those names; else one that is there is an error.
    """

    keep: list[str] | None = None
    min_score: float = field(default=0.0, kw_only=True)
    max_chars: int | None = field(default=DEFAULT_MAX_CHARS, kw_only=True)
    backend: Literal["fasttext", "cld2"] = field(default="fasttext", kw_only=True)
    model: str | None = field(default=None, kw_only=True)
    text_column: str = field(default="text", kw_only=True)
    language_column: str = field(default="language", kw_only=True)
    score_column: str = field(default="language_score", kw_only=True)
    overwrite: bool = field(default=False, kw_only=True)

    name = "text.language_id"

    def __post_init__(self) -> None:
        _check_parameters(self)

    def outputs(self) -> Columns:
        return [self.language_column, self.score_column, *(self.tag_columns if self.tag else ())]

    def new_columns(self) -> Mapping[str, str]:
        return {} if self.overwrite else {"language_column": self.language_column, "score_column": self.score_column}

    def preflight(self) -> Sequence[str] | None:
        """Check that the packages and the model are there.

        Raises:
            MissingPackageError: A package is not installed.
            ConfigError: The model is not one.
        """
        if self.backend == "cld2":
            if find_spec("pycld2") is None:
                raise MissingPackageError(
                    f"{self.name} with backend cld2", package="pycld2", pip="'curator-text[cld2]'"
                )
        else:
            load_model(self.model or packaged_model())
        return None

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Load the model, once a process."""
        if self.backend == "fasttext":
            load_model(self.model or packaged_model())

    def prepare_rows(self, task: TableBatch) -> TableBatch:
        languages, scores = self._identify(task.text(self.text_column))
        self.check_new_columns(task.columns)
        return task.with_column(self.language_column, languages).with_column(self.score_column, scores)

    def judge(self, batch: TableBatch) -> Verdict:
        language, score = batch.series(self.language_column), batch.series(self.score_column)
        if self.keep is None and not self.min_score:
            return Verdict(score.fill_null(0.0))
        reasons = {} if self.keep is None else {"other_language": ~language.is_in(self.keep)}
        return Verdict(score, {**reasons, "uncertain_language": score < self.min_score})

    def _identify(self, texts: pl.Series) -> tuple[pl.Series, pl.Series]:
        cut = texts if self.max_chars is None else texts.str.head(self.max_chars)
        written = cut.str.contains(r"\p{L}").fill_null(value=False)
        lines = cut.filter(written).str.replace_all("\n", " ", literal=True).to_list()
        if self.backend == "cld2":
            labels, scores = cld2_labels(lines)
        else:
            labels, scores = fasttext_labels(load_model(self.model or packaged_model()), lines)
        row = written.cum_sum() - 1  # of each text with letters, its place among the labels
        label_of = pl.when(written).then(row)
        texts_there = pl.when(texts.is_not_null())
        language = pl.Series(labels, dtype=pl.String).gather(pl.select(label_of).to_series())
        score = pl.Series(scores, dtype=pl.Float32).gather(pl.select(label_of).to_series())
        frame = pl.select(
            language=texts_there.then(language.fill_null(UNDETERMINED)), score=texts_there.then(score.fill_null(0.0))
        )
        return frame["language"], frame["score"]


@dataclass
class FastTextLangId(Filter):
    """Drop documents whose language is not clear: NeMo Curator's ``FastTextLangId``, with its default of 0.3.

    It is :class:`~curator_text.LanguageId`, which has the same parameters and drops nothing by itself, with that
    score to begin with and, as there, a look at all of a document.

    >>> from curator_text import DocumentBatch
    >>> texts = ["The weather is fine and the mountains are high.", "12 + 30 = 42"]
    >>> FastTextLangId().process(DocumentBatch(data={"text": texts})).data["language"].to_pylist()
    ['en']

    Args:
        keep: Languages to keep; all, where None.
        min_score: Keep only documents with at least this score.
        max_chars: Characters of a document to look at; None for all.
        backend: ``fasttext`` (lid.176), or ``cld2`` (faster, less accurate; needs the extra ``cld2``).
        model: A fastText model in place of the packaged lid.176; its labels are the languages.
        text_column: Column with the text.
        language_column: Column for the language.
        score_column: Column for the score.
        overwrite: Replace columns of those names; else one that is there is an error.
    """

    keep: list[str] | None = None
    min_score: float = field(default=0.3, kw_only=True)
    max_chars: int | None = field(default=None, kw_only=True)
    backend: Literal["fasttext", "cld2"] = field(default="fasttext", kw_only=True)
    model: str | None = field(default=None, kw_only=True)
    text_column: str = field(default="text", kw_only=True)
    language_column: str = field(default="language", kw_only=True)
    score_column: str = field(default="language_score", kw_only=True)
    overwrite: bool = field(default=False, kw_only=True)

    name = "text.fast_text_lang_id"

    def __post_init__(self) -> None:
        _check_parameters(self)

    def outputs(self) -> Columns:
        return self._language_id.outputs()

    def new_columns(self) -> Mapping[str, str]:
        return self._language_id.new_columns()

    def preflight(self) -> Sequence[str] | None:
        return self._language_id.preflight()

    def setup(self, worker: WorkerInfo) -> None:
        self._language_id.setup(worker)

    def prepare_rows(self, task: TableBatch) -> TableBatch:
        return self._language_id.prepare_rows(task)

    def judge(self, batch: TableBatch) -> Verdict:
        return self._language_id.judge(batch)

    @property
    def _language_id(self) -> LanguageId:
        """The stage that does the work, by the name and with the parameters of this one."""
        return LanguageId(**self.values_for(LanguageId)).with_(name=self.name)


def _check_parameters(stage: LanguageId | FastTextLangId) -> None:
    check_fraction(stage.name, min_score=stage.min_score)
    if stage.max_chars is not None:
        check_positive(stage.name, max_chars=stage.max_chars)
    if stage.keep is not None and not stage.keep:
        raise ConfigError(f"{stage.name}: keep is empty", fix="name a language, or leave keep out")
    if stage.model is not None and stage.backend != "fasttext":
        raise ConfigError(f"{stage.name}: the backend {stage.backend} takes no model", fix="leave model out")
