"""Part ``kernel``: CPU seconds per megabyte of the filters alone, in one process, without reading or writing."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine_comparison.environments import EnvironmentUnavailableError, interpreter

from text_comparison.environments import PEERS
from text_comparison.program import Program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Contestant:
    """Who measures what.

    Args:
        name: As in the report.
        peer: Name of its environment; empty for curator.
        module: Its program.
        words: How it splits words; empty where it has one way only.
        family: Its cases: ``quality`` (datatrove's filters), ``heuristics`` (NeMo Curator's) or ``operators``.
    """

    name: str
    peer: str
    module: str
    words: str
    family: str


CONTESTANTS = (
    Contestant("ours, whitespace words", "", "text_comparison.ours_speed", "whitespace", "quality"),
    Contestant("datatrove, whitespace words", "datatrove", "text_peers.datatrove_speed", "whitespace", "quality"),
    Contestant("ours, spaCy-like words", "", "text_comparison.ours_speed", "spacy_like", "quality"),
    Contestant("datatrove, spaCy words", "datatrove", "text_peers.datatrove_speed", "spacy", "quality"),
    Contestant("ours, NeMo Curator's filters", "", "text_comparison.ours_speed", "whitespace", "heuristics"),
    Contestant("NeMo Curator", "nemo", "text_peers.nemo_speed", "", "heuristics"),
    Contestant("data-juicer, eight operators", "data_juicer", "text_peers.data_juicer_speed", "", "operators"),
)
MODES = ("dropping", "all")
RATIOS = (
    ("ours, whitespace words", "datatrove, whitespace words"),
    ("ours, spaCy-like words", "datatrove, spaCy words"),
    ("ours, NeMo Curator's filters", "NeMo Curator"),
    ("ours, whitespace words", "data-juicer, eight operators"),
)


def measure(corpora: dict[str, tuple[Path, int]], peers: Sequence[str], rounds: int) -> dict[str, Any]:
    """Return figures by corpus and mode, then contestant; the best of several rounds in which all take turns.

    Args:
        corpora: Path and number of documents by name.
        peers: Who takes part beside curator.
        rounds: How often everyone has a turn.
    """
    figures: dict[str, Any] = {}
    with ExitStack() as programs:
        running = _started(peers, programs, figures)
        for number in range(rounds):
            for corpus, (path, documents) in corpora.items():
                for mode in MODES:
                    for contestant, program in running.items():
                        print(f"kernel: {corpus}, {mode}, {contestant.name}", file=sys.stderr, flush=True)
                        answer = program.ask(
                            case=f"{contestant.family} {mode}",
                            corpus=str(path),
                            documents=documents,
                            warm=number == 0 and not contestant.peer,
                            min_cpu_s=0.0 if contestant.peer else 0.3,
                        )
                        _keep_best(figures.setdefault(f"{corpus}, {mode}", {}), contestant.name, answer)
    return figures


def ratios(figures: dict[str, Any]) -> dict[str, float]:
    """Return how many times as much text ours gets through in a CPU second as each peer."""
    return {
        f"kernel, {case}: {ours} / {peer}": round(mine[ours]["mb_per_cpu_s"] / mine[peer]["mb_per_cpu_s"], 2)
        for case, mine in figures.items()
        for ours, peer in RATIOS
        if "mb_per_cpu_s" in mine.get(ours, {}) and "mb_per_cpu_s" in mine.get(peer, {})
    }


def _started(peers: Sequence[str], programs: ExitStack, figures: dict[str, Any]) -> dict[Contestant, Program]:
    running: dict[Contestant, Program] = {}
    for contestant in CONTESTANTS:
        if contestant.peer and contestant.peer not in peers:
            continue
        arguments = [contestant.words] if contestant.words else []
        try:
            python = interpreter(PEERS[contestant.peer]) if contestant.peer else sys.executable
        except EnvironmentUnavailableError as error:
            figures.setdefault("not installed", {})[contestant.name] = {"error": str(error)}
            continue
        running[contestant] = programs.enter_context(Program(python, contestant.module, arguments))
    return running


def _keep_best(case: dict[str, Any], name: str, answer: dict[str, Any]) -> None:
    if "error" in answer:
        case.setdefault(name, {"error": answer["error"]})
        return
    found = {
        "mb_per_cpu_s": round(answer["bytes"] / answer["cpu_s"] / 1e6, 4),
        "cpu_s_per_mb": round(answer["cpu_s"] / answer["bytes"] * 1e6, 6),
        "documents_per_cpu_s": round(answer["documents"] / answer["cpu_s"], 1),
        "documents": answer["documents"],
        "kept": answer["kept"],
    }
    if found["mb_per_cpu_s"] > case.get(name, {}).get("mb_per_cpu_s", 0.0):
        case[name] = found
