"""The lines that curator-text has to reach, and how far it is from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Target:
    """A ratio and its least or greatest acceptable value.

    Args:
        ratio: Its name in the report.
        min_value: At least so much.
        max_value: At most so much.
    """

    ratio: str
    min_value: float | None = None
    max_value: float | None = None

    def is_met(self, value: float) -> bool:
        is_enough = self.min_value is None or value >= self.min_value
        return is_enough and (self.max_value is None or value <= self.max_value)


def _kernel(ours: str, peer: str, min_value: float) -> list[Target]:
    cases = [f"{corpus}, {mode}" for corpus in ("short", "web") for mode in ("dropping", "all")]
    return [Target(f"kernel, {case}: {ours} / {peer}", min_value) for case in cases]


def _whole(ours: str, min_value: float, *, started: float | None = None) -> list[Target]:
    peer = "NeMo Curator, Ray Data"
    found = [Target(f"end to end, ten filters: mb_per_s, {ours} / {peer}", min_value)]
    if started:
        found.append(Target(f"end to end, ten filters: mb_per_s_started, {ours} / {peer}", started))
    return found


def _over_datatrove(words: str, peer_words: str) -> list[Target]:
    return [
        Target(f"end to end, quality: mb_per_s, {ours}, {words} / datatrove, 2 workers, {peer_words}", 8.0)
        for ours in ("ours, local, 2 threads", "ours, streaming")
    ]


TARGETS = (
    *_kernel("ours, whitespace words", "datatrove, whitespace words", 25.0),
    *_kernel("ours, spaCy-like words", "datatrove, spaCy words", 60.0),
    *_kernel("ours, NeMo Curator's filters", "NeMo Curator", 30.0),
    *_whole("ours, local, 2 threads", 15.0),
    *_whole("ours, streaming", 8.0, started=15.0),
    *_over_datatrove("whitespace words", "whitespace words"),
    *_over_datatrove("spaCy-like words", "spaCy words"),
    Target("start, later process: CPU seconds", max_value=1.0),
    Target("memory, local, 2 threads: ten times the input / once", max_value=1.25),
    Target("memory, streaming: ten times the input / once", max_value=1.25),
)


def check(ratios: dict[str, float]) -> dict[str, Any]:
    """Return what is wanted, what was found and whether that will do, of every line that was measured."""
    return {
        target.ratio: {
            **({"min_value": target.min_value} if target.min_value is not None else {"max_value": target.max_value}),
            "found": ratios[target.ratio],
            "is_met": target.is_met(ratios[target.ratio]),
        }
        for target in TARGETS
        if target.ratio in ratios
    }
