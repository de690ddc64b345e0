"""The command line: which parts to run, and the ratios at the end."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from engine_comparison.environments import Engine, EnvironmentUnavailableError, cache_folder, interpreter

from dedup_comparison.corpora import SIZES, sentences, write_corpus

_HERE = Path(__file__).parent
_LIMIT_S = 3_000
_SETTINGS = ("5", "14", "8", "0.8")
"""Words in a shingle, bands, hashes per band, threshold."""
PEERS = {
    "rensa": Engine(
        "",
        "rensa 0.5, its deduplicator",
        "dedup_peers",
        ("rensa==0.5.0", "daft==0.7.26", "datasketch==2.0.0", "pyarrow", "scipy"),
    ),
    "daft": Engine(
        "",
        "daft 0.7 signatures, clusters by sorting",
        "dedup_peers",
        ("rensa==0.5.0", "daft==0.7.26", "datasketch==2.0.0", "pyarrow", "scipy"),
    ),
    "datasketch": Engine(
        "", "datasketch 2.0", "dedup_peers", ("rensa==0.5.0", "daft==0.7.26", "datasketch==2.0.0", "pyarrow", "scipy")
    ),
    "datatrove": Engine(
        "",
        "datatrove 0.10.1, words by str.split",
        "datatrove_dedup",
        ("datatrove==0.10.1", "xxhash<4", "spacy", "regex", "orjson", "pyarrow", "fasteners", "tokenizers"),
    ),
}
PARTS = ("signatures", "fuzzy", "exact", "semantic", "scale")
# Slow peers get less text: what is compared is the rate.
_MEGABYTES = {"ours": 64, "rensa": 16, "daft": 32, "datasketch": 3, "datatrove": 3}
_QUICK = 0.25


def main() -> int:
    """Measure, print, return zero."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller corpora: about two minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object with cases and ratios")
    parser.add_argument("--part", default="signatures,fuzzy,exact,semantic", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}, or none")
    parser.add_argument("--documents", type=int, default=10_000_000, help="documents of the part scale")
    parser.add_argument("--work", type=Path, help="folder for corpora; a temporary one unless given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        report = measure(args, folder)
    print(json.dumps(report, indent=1) if args.json else text_of(report))
    return 0


def measure(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Run the parts asked for and compute ratios."""
    parts = args.part.split(",")
    peers = [] if args.peers == "none" else args.peers.split(",")
    share = _QUICK if args.quick else 1.0
    pool = sentences(Path(os.environ.get("CURATOR_BENCHMARKS_CORPORA") or cache_folder() / "corpora"))
    cases: dict[str, Any] = {}
    for name in SIZES if {"signatures", "fuzzy"}.intersection(parts) else ():
        cases |= _texts(parts, peers, name, folder, pool, share)
    if "exact" in parts:
        cases["exact"] = ours("exact", str(int(5_000_000 * share)))
    if "semantic" in parts:
        cases["semantic"] = ours("semantic", str(int(200_000 * share)), "384", str(max(20, int(1000 * share))))
    if "scale" in parts:
        listed = folder / "sentences.json"
        listed.write_text(json.dumps(pool), encoding="utf-8")
        cases["scale"] = ours("scale", str(args.documents), str(folder / "scale"), str(listed))
    return {"cases": cases, "ratios": ratios(cases)}


def _texts(
    parts: list[str], peers: list[str], name: str, folder: Path, pool: list[str], share: float
) -> dict[str, Any]:
    """Measure signatures and fuzzy deduplication on documents of one size."""
    corpora = {
        engine: _corpus(folder, pool, name, SIZES[name], megabytes * share) for engine, megabytes in _MEGABYTES.items()
    }
    cases: dict[str, Any] = {}
    if "signatures" in parts:
        for unit, ngrams, hashes in (("word", "5", "112"), ("char", "24", "260")):
            cases[f"signatures {name} {unit}"] = ours("signatures", corpora["ours"], unit, ngrams, hashes)
    if "fuzzy" in parts:
        for cores in (1, 2):
            settings = (*_SETTINGS, str(cores))
            cases[f"fuzzy {name} ours {cores}"] = ours("fuzzy", corpora["ours"], *settings, "no", cores=cores)
        removal = (*_SETTINGS, "1", "yes")
        cases[f"fuzzy {name} ours 1 with removal"] = ours("fuzzy", corpora["ours"], *removal, cores=1)
        for peer in peers:
            cases[f"fuzzy {name} {peer}"] = theirs(peer, corpora[peer])
    return cases


def ratios(cases: dict[str, Any]) -> dict[str, float]:
    """Return how many times as fast ours is, and the other figures that matter."""

    def rate(name: str) -> float | None:
        case = cases.get(name, {})
        return case["megabytes"] / case["seconds"] if "seconds" in case else None

    found: dict[str, float] = {}
    for size in SIZES:
        for unit in ("word", "char"):
            case = cases.get(f"signatures {size} {unit}", {})
            if "cpu_seconds" in case:
                found[f"signatures {size} {unit}, MB per CPU second"] = case["megabytes"] / case["cpu_seconds"]
        one, two = rate(f"fuzzy {size} ours 1"), rate(f"fuzzy {size} ours 2")
        if one and two:
            found[f"fuzzy {size}, two threads / one"] = two / one
            found[f"fuzzy {size}, MB/s with one thread"] = one
        for peer in PEERS:
            other = rate(f"fuzzy {size} {peer}")
            if one and other:
                found[f"fuzzy {size}, ours / {peer}"] = one / other
    if "seconds" in cases.get("exact", {}):
        found["exact, ours / polars unique"] = cases["exact"]["polars_seconds"] / cases["exact"]["seconds"]
    if "seconds" in cases.get("semantic", {}):
        case = cases["semantic"]
        found["semantic, ours / scikit-learn and numpy"] = case["scikit_learn_seconds"] / case["seconds"]
        found["semantic, share of planted duplicates found"] = case["found"] / case["planted"]
    return {name: round(value, 3) for name, value in found.items()}


def ours(case: str, *arguments: str, cores: int = 2) -> dict[str, Any]:
    """Run one of our cases in a process of its own."""
    what = f"ours {case} {' '.join(arguments[1:])}"
    return _run([sys.executable, str(_HERE / "ours.py"), case, *arguments], what, cores=cores)


def theirs(peer: str, corpus: str) -> dict[str, Any]:
    """Run a peer in its own environment."""
    try:
        python = interpreter(PEERS[peer])
    except EnvironmentUnavailableError as error:
        return {"error": str(error)}
    return _run([python, str(_HERE / "peers.py"), peer, corpus, *_SETTINGS], peer, cores=1)


def _run(command: list[str], what: str, *, cores: int) -> dict[str, Any]:
    print(what, file=sys.stderr, flush=True)
    one_core = ["taskset", "-c", "0"] if cores == 1 else []
    done = subprocess.run([*one_core, *command], capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:300]}
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def text_of(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = [f"{name}: {json.dumps(case)}" for name, case in report["cases"].items()]
    return "\n".join([*lines, "", *(f"{value:10.2f}  {name}" for name, value in report["ratios"].items())])


def _corpus(folder: Path, pool: list[str], name: str, document_bytes: int, megabytes: float) -> str:
    path = folder / f"{name}-{megabytes:g}.parquet"
    if not path.exists():
        write_corpus(path, pool, size_bytes=int(megabytes * 1e6), document_bytes=document_bytes)
    return str(path)
