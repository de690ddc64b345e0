"""Add the label and score of a transformer classifier for each document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.sdk import CompositeStage, ConfigError, Precision, TableBatch, UnknownNameError
from curator_text.models.classifier_network import Head
from curator_text.models.classifier_presets import PRESETS, PresetName
from curator_text.models.label_columns import LabelColumns
from curator_text.models.token_model import ClassifyTokens, check_batches
from curator_text.models.tokenize import Tokenize

if TYPE_CHECKING:
    from curator_core.sdk import Columns, ProcessingStage
    from curator_text.models.classifier_presets import ClassifierPreset

__all__ = ["Classify"]


@dataclass
class Classify(CompositeStage[TableBatch, TableBatch]):
    """Add the label that a classifier gives each document, and its probability; drop documents by them if asked.

    Stands for two stages: ``text.classify.tokenize``, which runs on CPUs, and the model, which gets the resources and
    other options of this stage: ``Classify(...).with_(resources=Resources(gpus=0.25))``. A CPU worker uses as many
    threads as ``resources`` gives it CPUs. See ``text.embed`` for how rows are put into batches.

    Runs every sequence classifier of transformers, and NVIDIA's DeBERTa classifiers, whose weights have a
    layout of their own. A model with several exclusive labels gives the most probable one; one with independent labels
    (``multi_label_classification``) too, each with a probability of its own; one with a single output is a regression
    and gives its raw number as the score, with a label only where there is a ``threshold``. A ``preset`` sets the
    parameters of a published classifier; give ``model`` as well to use a copy on disk. A null text gets nulls.

    >>> Classify(preset="fineweb_edu", min_score=2.5).outputs()
    ['fineweb_edu_label', 'fineweb_edu_score', 'fineweb_edu_int_score']

    Args:
        model: Folder with ``config.json`` and ``model.safetensors``, or an id on the Hugging Face hub.
        preset: A published classifier: ``quality``, ``domain``, ``multilingual_domain``, ``content_type`` (all by
            NVIDIA), ``fineweb_edu``, ``fineweb_mixtral_edu``, ``fineweb_nemotron_edu``.
        text_column: Column with the text.
        label_column: Column for the label; ``label`` unless the preset has another.
        score_column: Column for the label's probability or a regression's score; ``score`` unless the preset has
            another.
        int_column: Column for a regression's score rounded to a whole number from 0 to 5.
        scores_column: Column for the numbers of all labels, a struct; none unless given.
        head: Function of the model's outputs: ``softmax``, ``sigmoid``, ``regression``; that of the model's files
            unless given.
        threshold: Score from which a regression says ``high_quality``, and below which ``low_quality``.
        keep: Keep only documents with one of these labels.
        min_score: Keep only documents with at least this score.
        save_dropped: Write dropped documents to the run directory.
        max_length: Maximum number of tokens of a document; that of the preset or model unless given.
        max_chars: Maximum number of characters of a document to look at; that of the preset unless given.
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

    model: str | None = None
    preset: PresetName | None = None
    text_column: str = "text"
    label_column: str | None = None
    score_column: str | None = None
    int_column: str | None = None
    scores_column: str | None = None
    head: Head = "auto"
    threshold: float | None = None
    keep: list[str] | None = None
    min_score: float | None = None
    save_dropped: bool = False
    max_length: int | None = None
    max_chars: int | None = None
    tokens_column: str | None = None
    model_batch_size: int = 256
    max_tokens_per_batch: int | None = None
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False

    name = "text.classify"

    def __post_init__(self) -> None:
        if self.preset is not None and self.preset not in PRESETS:
            raise UnknownNameError(f"preset for {self.name}:", self.preset, PRESETS, fix=f"known: {', '.join(PRESETS)}")
        if self.model is None and self.preset is None:
            raise ConfigError(f"{self.name}: neither model nor preset is given", fix="e.g. preset: fineweb_edu")
        known = None if self._preset is None else self._preset.labels
        for label in self.keep or ():
            if known is not None and label not in known:
                raise UnknownNameError(f"label for {self.name}:", label, known, fix=f"known: {', '.join(known)}")
        check_batches(self.name, self.model_batch_size, self.max_tokens_per_batch)

    def inputs(self) -> Columns:
        return [self.tokens_column or self.text_column]

    def outputs(self) -> Columns:
        return self._columns().names

    def decompose(self) -> list[ProcessingStage[Any, Any]]:
        preset = self._preset
        model = self.model or (preset.model if preset else "")
        columns = self._columns()
        tokens_column = self.tokens_column or f"_{columns.label_column}_tokens"
        own = {"model": model, "tokens_column": tokens_column, "keep_tokens": self.tokens_column is not None}
        classify = ClassifyTokens(**{**self.values_for(ClassifyTokens), **own, "columns": columns})
        if self.tokens_column is not None:
            return [classify]
        tokenize = Tokenize(
            model,
            max_length=self.max_length or (preset.max_length if preset else None),
            max_chars=self.max_chars or (preset.max_chars if preset else None),
            text_column=self.text_column,
            tokens_column=tokens_column,
        )
        return [tokenize.with_(name=f"{type(self).name}.tokenize"), classify]

    @property
    def _preset(self) -> ClassifierPreset | None:
        return None if self.preset is None else PRESETS[self.preset]

    def _columns(self) -> LabelColumns:
        preset = self._preset
        return LabelColumns(
            label_column=self.label_column or (preset.label_column if preset else "label"),
            score_column=self.score_column or (preset.score_column if preset else "score"),
            int_column=self.int_column or (preset.int_column if preset else None),
            scores_column=self.scores_column,
            threshold=self.threshold if self.threshold is not None or preset is None else preset.threshold,
        )
