"""The command line: which cases to run, and the ratios at the end."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine_comparison.environments import EnvironmentUnavailableError, cache_folder, interpreter

from dedup_comparison.corpora import SIZES, sentences, write_corpus
from dedup_comparison.environments import PEERS, SCIKIT_LEARN
from dedup_comparison.ratios import met, ratios

if TYPE_CHECKING:
    from engine_comparison.environments import Engine

_HERE = Path(__file__).parent
_LIMIT_S = 3_000
_SETTINGS = ("5", "14", "8", "0.8")
"""Words in a shingle, bands, hashes per band, threshold."""
CASES = ("signatures", "memory", "files", "peers", "recall", "exact", "semantic", "scale")
_USUAL = CASES[:-1]
_OURS = (
    ("signatures", " word", ("word", "5", "112"), 1),
    ("signatures", " char", ("char", "24", "260"), 1),
    ("memory", " ours verified", (*_SETTINGS, "verified"), 1),
    ("memory", " ours unverified", (*_SETTINGS, "unverified"), 1),
    ("files", " ours 1 held", (*_SETTINGS, "1", "held"), 1),
    ("files", " ours 1 read", (*_SETTINGS, "1", "read"), 1),
    ("files", " ours 2 held", (*_SETTINGS, "2", "held"), 2),
    ("recall", "", (*_SETTINGS, "3000"), 2),
)
"""Our cases on texts: what they are called, their arguments behind the corpus, and the cores they get."""
# Slow peers get less text: what is compared is the rate.
_MEGABYTES = {"ours": 64, "rensa": 16, "daft": 32, "datasketch": 3, "datatrove": 3, "text_dedup": 3}
_QUICK = 0.25


def main() -> int:
    """Measure, print, return zero."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller corpora: about two minutes")
    parser.add_argument("--full", action="store_true", help="also the case scale: half an hour, 20 GB of disk")
    parser.add_argument("--json", action="store_true", help="print one JSON object with cases, ratios and targets")
    parser.add_argument(
        "--case", default="", help=f"of {', '.join(CASES)}, joined by commas; all but scale unless given"
    )
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}, or none")
    parser.add_argument("--documents", type=int, default=10_000_000, help="documents of the case scale")
    parser.add_argument("--fraction", type=float, help="size of all other cases as a fraction of the whole")
    parser.add_argument(
        "--corpus",
        default="descriptions",
        choices=("descriptions", "builtin"),
        help="whose sentences documents are made of: Debian's package descriptions, or made-up ones, without a network",
    )
    parser.add_argument("--work", type=Path, help="folder for corpora; a temporary one unless given")
    args = parser.parse_args()
    chosen = args.case.split(",") if args.case else CASES if args.full else _USUAL
    unknown = [name for name in chosen if name not in CASES]
    if unknown:
        parser.error(f"unknown case {', '.join(unknown)}; there are {', '.join(CASES)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        report = measure(args, chosen, folder)
    print(json.dumps(report, indent=1) if args.json else text_of(report))
    return 0


def measure(args: argparse.Namespace, chosen: list[str], folder: Path) -> dict[str, Any]:
    """Run the cases asked for and compute ratios."""
    peers = [] if args.peers == "none" else args.peers.split(",")
    fraction = args.fraction or (_QUICK if args.quick else 1.0)
    cases: dict[str, Any] = {}
    if {"signatures", "memory", "files", "peers", "recall", "scale"}.intersection(chosen):
        corpora = Path(os.environ.get("CURATOR_BENCHMARKS_CORPORA") or cache_folder() / "corpora")
        pool = sentences(corpora, is_builtin=args.corpus == "builtin")
        for name in SIZES:
            cases |= _texts(chosen, peers, name, folder, pool, fraction)
    if "exact" in chosen:
        cases["exact"] = ours("exact", str(int(5_000_000 * fraction)))
    if "semantic" in chosen:
        vectors, clusters = str(folder / "vectors.npy"), str(max(20, int(1000 * fraction)))
        cases["semantic"] = ours("semantic", str(int(200_000 * fraction)), "384", clusters, vectors)
        if peers:
            cases["semantic scikit-learn"] = theirs(
                SCIKIT_LEARN, "semantic_peer.py", vectors, clusters, "0.01", cores=2
            )
    if "scale" in chosen:
        listed = folder / "sentences.json"
        listed.write_text(json.dumps(pool), encoding="utf-8")
        cases["scale"] = ours("scale", str(args.documents), str(folder / "scale"), str(listed))
    found = ratios(cases)
    return {"cases": cases, "ratios": found, "targets": met(found)}


def _texts(
    chosen: list[str], peers: list[str], name: str, folder: Path, pool: list[str], fraction: float
) -> dict[str, Any]:
    """Measure what there is to measure on documents of one size."""

    def corpus(engine: str) -> str:
        return _corpus(folder, pool, name, _MEGABYTES[engine] * fraction)

    cases: dict[str, Any] = {}
    for case, label, arguments, cores in _OURS:
        if case in chosen:
            size = "datasketch" if case == "recall" else "ours"
            cases[f"{case} {name}{label}"] = ours(case, corpus(size), *arguments, cores=cores)
    for peer in peers if "peers" in chosen else ():
        cases[f"fuzzy {name} {peer}"] = theirs(PEERS[peer], "peers.py", peer, corpus(peer), *_SETTINGS)
    return cases


def ours(case: str, *arguments: str, cores: int = 2) -> dict[str, Any]:
    """Run one of our cases in a process of its own."""
    return _run([sys.executable, str(_HERE / "ours.py"), case, *arguments], f"ours {case}", cores=cores)


def theirs(engine: Engine, program: str, *arguments: str, cores: int = 1) -> dict[str, Any]:
    """Run a peer in its own environment."""
    try:
        python = interpreter(engine)
    except EnvironmentUnavailableError as error:
        return {"error": str(error)}
    return _run([python, str(_HERE / program), *arguments], engine.summary, cores=cores)


def _run(command: list[str], what: str, *, cores: int) -> dict[str, Any]:
    print(what, file=sys.stderr, flush=True)
    # Nobody gets more threads than cores: neither polars, Arrow, torch, OpenBLAS nor daft.
    threads = {name: str(cores) for name in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    one_core = ["taskset", "-c", "0"] if cores == 1 else []
    done = subprocess.run(
        [*one_core, *command],
        env={**os.environ, **threads},
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:300]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def text_of(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = [f"{name}: {json.dumps(case)}" for name, case in report["cases"].items()]
    marks = {None: "", True: "  reached", False: "  MISSED"}
    figures = [f"{value:10.2f}  {name}{marks[report['targets'].get(name)]}" for name, value in report["ratios"].items()]
    return "\n".join([*lines, "", *figures])


def _corpus(folder: Path, pool: list[str], name: str, megabytes: float) -> str:
    path = folder / f"{name}-{megabytes:g}.parquet"
    if not path.exists():
        write_corpus(path, pool, size_bytes=int(megabytes * 1e6), document_bytes=SIZES[name])
    return str(path)
