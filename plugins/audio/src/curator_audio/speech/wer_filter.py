"""Drop recordings whose transcript differs from the recognised text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from curator_audio.speech.transcripts import normalise
from curator_core.sdk import ConfigError, Filter, Verdict

if TYPE_CHECKING:
    from curator_core.sdk import Columns, TableBatch

__all__ = ["WerFilter", "error_rate"]


def error_rate(reference: str, hypothesis: str, *, unit: Literal["word", "char"]) -> float:
    """Return the edits that turn one text into the other per word, or character, of the first.

    Where the first is empty, it is 0 if the other is, too, and else 1 per word (character) of the other.

    >>> error_rate("the cat sat", "the cat sat down", unit="word")
    0.3333333333333333
    """
    if not reference:
        return float(len(hypothesis.split()) if unit == "word" else len(hypothesis))
    import jiwer

    return float((jiwer.wer if unit == "word" else jiwer.cer)(reference, hypothesis))


@dataclass
class WerFilter(Filter):
    """Keep rows whose transcript and recognised text agree; add the word error rate as ``wer``.

    Both texts are normalised first, unless told otherwise: case, punctuation, apostrophes, what is in brackets and
    forms of characters do not count (:func:`curator_audio.speech.transcripts.normalise`). Numbers are not spelt out. A
    row that lacks one of the texts is dropped as a missing value.

    >>> from curator_audio import AudioBatch
    >>> batch = AudioBatch(data={"text": ["Hello, world.", "Goodbye."], "transcript": ["hello world", "good day"]})
    >>> WerFilter(max_wer=0.5).process(batch).data["text"].to_pylist()
    ['Hello, world.']

    Args:
        max_wer: Maximum error rate to keep.
        reference_column: Column with the transcript.
        hypothesis_column: Column with the recognised text.
        unit: ``word`` for the word error rate, ``char`` for the character error rate.
        normalize: Bring both texts to one form before comparing them.
        score_column: Column for the error rate.
    """

    max_wer: float = 0.5
    reference_column: str = "text"
    hypothesis_column: str = "transcript"
    unit: Literal["word", "char"] = "word"
    normalize: bool = True
    score_column: str = "wer"

    name = "audio.wer_filter"

    def __post_init__(self) -> None:
        if self.max_wer < 0:
            raise ConfigError(f"{self.name}: max_wer={self.max_wer} is negative; nothing would be kept")

    def inputs(self) -> Columns:
        return [self.reference_column, self.hypothesis_column]

    def outputs(self) -> Columns:
        return [self.score_column, *super().outputs()]

    def prepare_rows(self, task: TableBatch) -> TableBatch:
        pairs = zip(task.text(self.reference_column), task.text(self.hypothesis_column), strict=True)
        rates = [
            None if reference is None or heard is None else self._rate(reference, heard) for reference, heard in pairs
        ]
        return task.with_column(self.score_column, pa.array(rates, pa.float64()))

    def judge(self, batch: TableBatch) -> Verdict:
        rate = batch.series(self.score_column)
        return Verdict(rate, {"transcript_differs": rate > self.max_wer})

    def _rate(self, reference: str, heard: str) -> float:
        if self.normalize:
            reference, heard = normalise(reference), normalise(heard)
        else:
            reference, heard = " ".join(reference.split()), " ".join(heard.split())
        return error_rate(reference, heard, unit=self.unit)
