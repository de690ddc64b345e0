"""Find duplicates in any modality: hashes that tell which rows hold the same content.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.sdk import lazy_names

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

_HOMES = {
    "content_hash": ("ContentHash",),
    "exact.in_memory": ("find_exact_duplicates",),
    "exact.workflow": ("ExactDeduplicationWorkflow",),
    "fuzzy.in_memory": ("find_near_duplicates",),
    "fuzzy.workflow": ("FuzzyDeduplicationWorkflow",),
    "lines.workflow": ("LineDeduplicationWorkflow",),
    "minhash.stage": ("Minhash",),
    "perceptual.workflow": ("PerceptualDeduplicationWorkflow",),
    "semantic.workflow": ("SemanticDeduplicationWorkflow",),
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

__getattr__, __dir__, _ = lazy_names(__name__, _HOMES)
