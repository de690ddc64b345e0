"""Find duplicates in any modality: hashes that tell which rows hold the same content.

Importing this package only defines names; each is loaded from its module when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_dedup.content_hash import ContentHash

__version__ = "0.1.0"

_HOME = {"ContentHash": "content_hash"}

__all__ = ["ContentHash"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
