"""A light text pipeline of 13 stages, and a corpus for it."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from curator_table import ReadJsonl, WriteJsonl
from curator_text import MeanWordLength, NonAlphaNumeric, Normalize, WordCount

if TYPE_CHECKING:
    from pathlib import Path

    from curator_core import ProcessingStage

_UNIT_BYTES = 4 * 10**6


def text_stages(folder: Path, *, may_fuse: bool) -> list[ProcessingStage[Any, Any]]:
    """Return 13 stages that read ``folder/in`` and write ``folder/out``: a clean-up and ten light filters."""
    stages: list[ProcessingStage[Any, Any]] = [
        ReadJsonl(str(folder / "in"), block_bytes=_UNIT_BYTES),
        Normalize(),
        *(WordCount(min_words=words).with_(name=f"at least {words} words") for words in (1, 2, 3, 4)),
        *(MeanWordLength(min_length=length).with_(name=f"mean over {length}") for length in (1.0, 1.5, 2.0)),
        *(NonAlphaNumeric(max_fraction=limit).with_(name=f"symbols under {limit}") for limit in (0.9, 0.8, 0.7)),
        WriteJsonl(str(folder / "out")),
    ]
    return stages if may_fuse else [stage.with_(fuse=False) for stage in stages]


def write_corpus(folder: Path, size_bytes: int) -> None:
    """Write JSON lines of pseudo-words with a Zipfian distribution, one file per unit of work."""
    folder.mkdir()
    unit = _unit(random.Random(0))
    for number in range(max(1, size_bytes // len(unit))):
        (folder / f"part-{number:05}.jsonl").write_bytes(unit)


def _unit(draw: random.Random) -> bytes:
    words = ["".join(draw.choices("etaoinshrdlucmfwypvbgk", k=draw.randint(2, 11))) for _ in range(5_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    lines: list[bytes] = []
    size = 0
    while size < _UNIT_BYTES:
        text = " ".join(draw.choices(words, weights, k=int(draw.lognormvariate(5.0, 0.8)) + 5))
        lines.append(json.dumps({"id": len(lines), "text": text}).encode() + b"\n")
        size += len(lines[-1])
    return b"".join(lines)
