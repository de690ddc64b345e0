"""Find duplicates in any modality: hashes that tell which rows hold the same content.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_dedup.content_hash import ContentHash
    from curator_dedup.exact.in_memory import find_exact_duplicates
    from curator_dedup.exact.workflow import ExactDeduplicationWorkflow
    from curator_dedup.fuzzy.in_memory import find_near_duplicates
    from curator_dedup.fuzzy.workflow import FuzzyDeduplicationWorkflow
    from curator_dedup.lines.workflow import LineDeduplicationWorkflow
    from curator_dedup.minhash.stage import Minhash
    from curator_dedup.perceptual.workflow import PerceptualDeduplicationWorkflow
    from curator_dedup.semantic.workflow import SemanticDeduplicationWorkflow

__version__ = "0.1.0"

_HOME = {
    "ContentHash": "content_hash",
    "ExactDeduplicationWorkflow": "exact.workflow",
    "FuzzyDeduplicationWorkflow": "fuzzy.workflow",
    "LineDeduplicationWorkflow": "lines.workflow",
    "Minhash": "minhash.stage",
    "PerceptualDeduplicationWorkflow": "perceptual.workflow",
    "SemanticDeduplicationWorkflow": "semantic.workflow",
    "find_exact_duplicates": "exact.in_memory",
    "find_near_duplicates": "fuzzy.in_memory",
}

__all__ = [
    "ContentHash",
    "ExactDeduplicationWorkflow",
    "FuzzyDeduplicationWorkflow",
    "LineDeduplicationWorkflow",
    "Minhash",
    "PerceptualDeduplicationWorkflow",
    "SemanticDeduplicationWorkflow",
    "find_exact_duplicates",
    "find_near_duplicates",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
