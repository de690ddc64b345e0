"""Load and ask fastText models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_core.sdk import ConfigError, StageError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FastTextModel", "check_model_file"]

LABEL_PREFIX = "__label__"


def check_model_file(stage: str, path: str) -> None:
    """Refuse a model file that is not there.

    Raises:
        ConfigError: There is no such file.
    """
    if not Path(path).expanduser().is_file():
        raise ConfigError(f"{stage}: there is no model file {path!r}", fix="give the path of a .bin or .ftz file")


class FastTextModel:
    """A supervised fastText model.

    Args:
        path: A ``.bin`` or ``.ftz`` file.
        stage: Name of the stage, for messages.

    Raises:
        StageError: It is not such a file.
    """

    def __init__(self, path: str, *, stage: str) -> None:
        import fasttext

        check_model_file(stage, path)
        try:
            self._model = fasttext.load_model(str(Path(path).expanduser()))
        except ValueError as error:
            raise StageError(
                f"{stage}: {path!r} is not a fastText model: {error}", fix="give a .bin or .ftz file of fastText"
            ) from error

    def best(self, texts: pl.Series, *, max_chars: int | None = None) -> tuple[list[str | None], np.ndarray]:
        """Return the most probable label of each text and its probability; None and NaN for a null.

        fastText reads one line, so line ends become spaces, as in all published uses of such models; what looks like
        a label in the text becomes a space too.
        """
        lines = _lines(texts, max_chars)
        labels: list[str | None] = [None] * len(lines)
        scores = np.full(len(lines), np.nan)
        for row, line in enumerate(lines):
            if line is not None:
                labels[row], scores[row] = self._ask(line)
        return labels, scores

    def _ask(self, line: str) -> tuple[str | None, float]:
        found: Any = self._model.predict(line)
        labels, scores = found
        # A text without a known word or letter has no prediction.
        return (labels[0], min(float(scores[0]), 1.0)) if len(labels) else (None, np.nan)


def _lines(texts: pl.Series, max_chars: int | None) -> list[str | None]:
    if max_chars is not None:
        texts = texts.str.head(max_chars)
    lines: list[str | None] = (
        texts.str.replace_all("\n", " ", literal=True).str.replace_all(LABEL_PREFIX, " ", literal=True).to_list()
    )
    return lines
