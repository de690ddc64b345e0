"""Part ``memory``: the peak of all processes of a run of ours, on an input and on one that is ten times as large."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from text_comparison.end_to_end import Way
from text_comparison.run_watch import RunFailedError, run_watched

if TYPE_CHECKING:
    from text_corpora.corpus import Corpus

WAYS = (Way("local, 2 threads", "ten filters", executor="local"), Way("streaming", "ten filters", executor="streaming"))


def measure(small: Corpus, large: Corpus) -> dict[str, Any]:
    """Return figures by way and size of the input."""
    return {way.name: {corpus.name: _figures(way, corpus) for corpus in (small, large)} for way in WAYS}


def ratios(figures: dict[str, Any]) -> dict[str, float]:
    """Return the peak on the larger input over that on the smaller."""
    found = {}
    for way, sizes in figures.items():
        small, large = sizes.values()
        if "peak_pss_mb" in small and "peak_pss_mb" in large:
            found[f"memory, {way}: ten times the input / once"] = round(large["peak_pss_mb"] / small["peak_pss_mb"], 3)
    return found


def _figures(way: Way, corpus: Corpus) -> dict[str, Any]:
    print(f"memory: {way.name}, {corpus.name}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            return run_watched(way.command(corpus.path, Path(folder)))
        except RunFailedError as error:
            return {"error": str(error)}
