"""Declare the stages of this package, by subject, without importing them."""

from __future__ import annotations

from curator_text.catalogue import (
    aliases,
    code,
    extraction,
    heuristics,
    language,
    models,
    modifiers,
    privacy,
    quality,
    reading,
    writing,
)

__all__ = ["STAGES"]

STAGES = (
    *reading.STAGES,
    *extraction.STAGES,
    *modifiers.STAGES,
    *privacy.STAGES,
    *language.STAGES,
    *quality.STAGES,
    *heuristics.STAGES,
    *code.STAGES,
    *models.STAGES,
    *writing.STAGES,
    *aliases.STAGES,
)
