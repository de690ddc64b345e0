"""Stages that write documents."""

from __future__ import annotations

from curator_core.specs import StageSpec

__all__ = ["STAGES"]

STAGES = (
    StageSpec(
        "write_tokens",
        target="curator_text.writing.tokens:WriteTokens",
        summary="Tokenize documents and write the shards that Megatron trains from.",
        kind="writer",
        requires=("tokenizers",),
        extra="tokens",
    ),
)
