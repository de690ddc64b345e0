"""What curator-dedup offers, declared without importing any of it."""

from __future__ import annotations

from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages() -> list[StageSpec]:
    return [
        StageSpec(
            "content_hash",
            target="curator_dedup.content_hash:ContentHash",
            summary="Add a 128-bit hash of a text or binary column, equal for rows with the same content.",
            kind="annotator",
            produces=("content_hash",),
        )
    ]
