"""What curator-table offers, declared without importing any of it."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "select",
            target="curator_table.stages.select:SelectColumns",
            summary="Keep, drop and rename columns.",
            kind="modifier",
        ),
        StageSpec(
            "where",
            target="curator_table.stages.where:Where",
            summary="Keep the rows for which a SQL expression is true.",
            kind="filter",
        ),
        StageSpec(
            "sample",
            target="curator_table.stages.sample:Sample",
            summary="Keep a share of the rows, the same ones every time.",
            kind="filter",
        ),
    ]
