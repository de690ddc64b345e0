"""What curator-table offers, declared without importing any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.hookspecs import hookimpl

if TYPE_CHECKING:
    from curator_core.specs import StageSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return []
