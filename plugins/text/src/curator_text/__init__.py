"""Curate text: read documents, clean them, filter them, write them.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_text.batch import DocumentBatch
    from curator_text.mean_word_length import MeanWordLength
    from curator_text.non_alpha_numeric import NonAlphaNumeric
    from curator_text.normalize import Normalize
    from curator_text.readers import ReadCsv, ReadJsonl, ReadParquet
    from curator_text.word_count import WordCount
    from curator_text.writers import WriteJsonl, WriteParquet

__version__ = "0.1.0"

_HOME = {
    "DocumentBatch": "batch",
    "MeanWordLength": "mean_word_length",
    "NonAlphaNumeric": "non_alpha_numeric",
    "Normalize": "normalize",
    "ReadCsv": "readers",
    "ReadJsonl": "readers",
    "ReadParquet": "readers",
    "WordCount": "word_count",
    "WriteJsonl": "writers",
    "WriteParquet": "writers",
}

__all__ = [
    "DocumentBatch",
    "MeanWordLength",
    "NonAlphaNumeric",
    "Normalize",
    "ReadCsv",
    "ReadJsonl",
    "ReadParquet",
    "WordCount",
    "WriteJsonl",
    "WriteParquet",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
