"""Former names of parameters: errors suggest the new name, and a run that has the former one can be resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["name_today"]

_LAST_WORDS = {"field": "column", "fields": "columns", "share": "fraction"}
"""Words at the end of names that were replaced in all parameters."""


def name_today(name: str, known: Collection[str]) -> str:
    """Return the name that a parameter has today, or the same name if no known parameter has replaced it.

    >>> [name_today(name, ["max_fraction", "text_column", "share"]) for name in ("max_share", "text_field", "share")]
    ['max_fraction', 'text_column', 'share']
    """
    if name in known:
        return name
    first, underscore, last = name.rpartition("_")
    today = f"{first}{underscore}{_LAST_WORDS.get(last, last)}"
    return today if today in known else name
