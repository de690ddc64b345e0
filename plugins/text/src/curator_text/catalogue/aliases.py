"""Former names of stages, most of them of stages for any table that were declared here: they stay good."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

_SAME_NAME = (
    "add_id",
    "blend",
    "partition",
    "read_arrow",
    "read_csv",
    "read_hf",
    "read_jsonl",
    "read_parquet",
    "resample",
    "score_buckets",
    "shuffle",
    "statistics",
    "write_arrow",
    "write_csv",
    "write_jsonl",
    "write_parquet",
)

STAGES = (
    *(StageSpec(name, alias_of=f"table.{name}") for name in _SAME_NAME),
    StageSpec("count_tokens", alias_of="text.add_token_count"),
    StageSpec("write_routed", alias_of="table.route"),
)
