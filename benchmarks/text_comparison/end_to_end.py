"""Part ``end_to_end``: JSON lines in, filters, JSON lines out, as whole commands on all cores of this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from engine_comparison.environments import EnvironmentUnavailableError, interpreter

from text_comparison.environments import PEERS
from text_comparison.program import BENCHMARKS, environment
from text_comparison.run_watch import RunFailedError, run_watched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from text_corpora.corpus import Corpus

_FOLDER = Path(__file__).parent
THREADS = 2
_LIMIT_S = 900.0
_RUNS = 3
_ENOUGH_S = 120.0


@dataclass(frozen=True)
class Way:
    """A way to run a pipeline.

    Args:
        name: As in the report.
        pipeline: ``ten filters`` (NeMo Curator's) or ``quality`` (datatrove's).
        peer: Name of its environment; empty for curator.
        words: How words are split, where that is a choice.
        executor: curator's executor.
        is_slow: It is given the small input only.
    """

    name: str
    pipeline: str
    peer: str = ""
    words: str = ""
    executor: str = ""
    is_slow: bool = False

    def command(self, source: Path, target: Path) -> list[str]:
        """Return what to run.

        Raises:
            EnvironmentUnavailableError: The peer cannot be installed.
        """
        python = interpreter(PEERS[self.peer]) if self.peer else sys.executable
        if self.peer:
            words = [self.words] if self.words else []
            return [python, "-m", f"text_peers.{self.peer}_run", str(source), str(target), *words]
        file = _FOLDER / f"{self.pipeline.replace(' ', '_')}.yaml"
        settings = {"INPUT": source, "OUTPUT": target, **({"WORDS": self.words} if self.words else {})}
        options = [option for name, value in settings.items() for option in ("--set", f"{name}={value}")]
        threads = ["--threads", str(THREADS)] if self.executor == "local" else []
        return [python, "-m", "curator_core", "run", str(file), *options, "-q", "--executor", self.executor, *threads]


WAYS = (
    Way("NeMo Curator, Ray Data", "ten filters", peer="nemo"),
    Way("ours, local, 2 threads", "ten filters", executor="local"),
    Way("ours, streaming", "ten filters", executor="streaming"),
    Way("datatrove, 2 workers, whitespace words", "quality", peer="datatrove", words="whitespace"),
    Way("ours, local, 2 threads, whitespace words", "quality", words="whitespace", executor="local"),
    Way("ours, streaming, whitespace words", "quality", words="whitespace", executor="streaming"),
    Way("datatrove, 2 workers, spaCy words", "quality", peer="datatrove", words="spacy", is_slow=True),
    Way("ours, local, 2 threads, spaCy-like words", "quality", words="spacy_like", executor="local"),
    Way("ours, streaming, spaCy-like words", "quality", words="spacy_like", executor="streaming"),
)
STARTED = "ours, streaming, Ray up"


def measure(small: Corpus, large: Corpus, peers: Sequence[str], *, slow_peers: bool) -> dict[str, Any]:
    """Return figures by pipeline and way.

    Args:
        small: Input whose time is taken for the time to start.
        large: Input to measure with.
        peers: Who takes part beside curator.
        slow_peers: Also run those that take minutes for the small input.
    """
    figures: dict[str, Any] = {}
    for way in WAYS:
        if (way.peer and way.peer not in peers) or (way.is_slow and not slow_peers):
            continue
        print(f"end to end: {way.pipeline}, {way.name}", file=sys.stderr, flush=True)
        try:
            found = _figures(way, small, small if way.is_slow else large)
        except (EnvironmentUnavailableError, RunFailedError) as error:
            found = {"error": str(error)}
        figures.setdefault(way.pipeline, {})[way.name] = found
    print(f"end to end: ten filters, {STARTED}", file=sys.stderr, flush=True)
    figures.setdefault("ten filters", {})[STARTED] = _on_a_ray_that_is_up(small, large)
    return figures


def ratios(figures: dict[str, Any]) -> dict[str, float]:
    """Return ours over each peer's, by megabytes per second: as a whole command, and once started."""
    found: dict[str, float] = {}
    for pipeline, ways in figures.items():
        for peer, theirs in ways.items():
            for name, mine in ways.items():
                if peer.startswith("ours") or not name.startswith("ours") or not _is_like(name, peer):
                    continue
                for figure in ("mb_per_s", "mb_per_s_started"):
                    if mine.get(figure) and theirs.get(figure):
                        key = f"end to end, {pipeline}: {figure}, {name} / {peer}"
                        found[key] = round(mine[figure] / theirs[figure], 2)
    return found


def _is_like(ours: str, peer: str) -> bool:
    """Return whether both split words in the same way."""
    return ("whitespace" in ours) == ("whitespace" in peer) and ("spaCy" in ours) == ("spaCy" in peer)


def _figures(way: Way, small: Corpus, large: Corpus) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        full = _usual_run(way, large, folder / "full")
        figures = {
            **full,
            "mb_per_s": round(large.size_bytes / full["wall_s"] / 1e6, 3),
            "rows": _rows(folder / "full-1"),
        }
        if small is not large:
            start = _usual_run(way, small, folder / "start")
            more_mb = (large.size_bytes - small.size_bytes) / 1e6
            figures["small_wall_s"] = start["wall_s"]
            figures["mb_per_s_started"] = round(more_mb / max(full["wall_s"] - start["wall_s"], 1e-3), 3)
    return figures


def _usual_run(way: Way, corpus: Corpus, target: Path) -> dict[str, Any]:
    """Return medians of three runs, or of fewer where they take minutes."""
    runs: list[dict[str, Any]] = []
    while len(runs) < _RUNS and sum(run["wall_s"] for run in runs) < _ENOUGH_S:
        runs.append(run_watched(way.command(corpus.path, Path(f"{target}-{len(runs) + 1}")), limit_s=_LIMIT_S))
    return {"runs": len(runs), **{name: median(run[name] for run in runs) for name in runs[0]}}


def _on_a_ray_that_is_up(small: Corpus, large: Corpus) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "text_comparison.ours_started", str(small.path), str(large.path), name]
        done = subprocess.run(
            command, cwd=BENCHMARKS, env=environment(), capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:300]}
    seconds = json.loads(done.stdout.splitlines()[-1])
    return {
        "wall_s": round(seconds["started_s"], 2),
        "mb_per_s_started": round(large.size_bytes / seconds["started_s"] / 1e6, 3),
    }


def _rows(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.jsonl"))
