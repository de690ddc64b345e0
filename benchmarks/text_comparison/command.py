"""The command line of the text benchmarks."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine_comparison.environments import cache_folder
from text_corpora.builtin import builtin_documents
from text_corpora.descriptions import short_documents
from text_corpora.json_lines import json_lines
from text_corpora.pages import web_length_documents

from text_comparison import cold_start, end_to_end, kernel, memory, other_programs
from text_comparison.environments import PEERS
from text_comparison.report import text
from text_comparison.targets import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from text_corpora.corpus import Corpus

PARTS = ("kernel", "start", "end_to_end", "memory", "language", "extraction")
MB = 10**6
_COMPARED: dict[str, Any] = {"kernel": kernel, "start": cold_start, "end_to_end": end_to_end, "memory": memory}


def main(description: str, arguments: Sequence[str] | None = None) -> None:
    """Run what the arguments ask for and print it."""
    options = _parser(description).parse_args(arguments)
    if options.cache:
        os.environ["CURATOR_BENCHMARKS_CACHE"] = str(Path(options.cache).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        is_builtin = options.corpus == "builtin"
        folder = Path(scratch) if is_builtin else cache_folder() / "corpora"
        load_before = os.getloadavg()[0]
        parts = {part: _measured(part, folder, options, is_builtin=is_builtin) for part in options.part}
    ratios: dict[str, float] = {}
    for part, module in _COMPARED.items():
        ratios |= module.ratios(parts[part]) if part in parts else {}
    report = {
        "machine": {**_machine(), "load_before": load_before, "load_after": os.getloadavg()[0]},
        "is_quick": options.quick,
        "parts": parts,
        "ratios": ratios,
        "targets": check(ratios),
    }
    print(json.dumps(report, indent=2, ensure_ascii=False) if options.json else text(report))


def _measured(part: str, folder: Path, options: argparse.Namespace, *, is_builtin: bool) -> dict[str, Any]:
    quick = options.quick
    if part == "kernel":
        rounds = 1 if is_builtin else 2 if quick else 3
        return kernel.measure(_kernel_corpora(folder, quick=quick, is_builtin=is_builtin), options.peers, rounds)
    if part == "start":
        return cold_start.measure()
    if part in other_programs.PROGRAMS:
        return other_programs.measure(part, is_quick=quick)
    small, large = _sizes(folder, part, quick=quick, is_builtin=is_builtin)
    if part == "memory":
        return memory.measure(small, large)
    return end_to_end.measure(small, large, options.peers, slow_peers=not quick)


def _kernel_corpora(folder: Path, *, quick: bool, is_builtin: bool) -> dict[str, tuple[Path, int]]:
    if is_builtin:
        return {"builtin": (builtin_documents(folder).path, 100)}
    return {
        "short": (short_documents(folder).path, 1_000 if quick else 10_000),
        "web": (web_length_documents(folder).path, 60 if quick else 600),
    }


def _sizes(folder: Path, part: str, *, quick: bool, is_builtin: bool) -> tuple[Corpus, Corpus]:
    """Return the smaller and the larger input of a part."""
    if is_builtin:
        return json_lines(folder, MB // 10, builtin=True), json_lines(folder, MB, builtin=True)
    if part == "memory":
        return (
            (json_lines(folder, 20 * MB), json_lines(folder, 200 * MB))
            if quick
            else (
                json_lines(folder, 200 * MB),
                json_lines(folder, 2_000 * MB),
            )
        )
    return json_lines(folder, 20 * MB if not quick else 2 * MB), json_lines(folder, 20 * MB if quick else 200 * MB)


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small inputs, about two minutes once all is fetched")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", type=_parts, default=list(PARTS), help=f"any of {','.join(PARTS)}")
    parser.add_argument("--peers", type=_peers, default=list(PEERS), help=f"none, or any of {','.join(PEERS)}")
    parser.add_argument("--cache", help="folder of corpora and peers' environments; CURATOR_BENCHMARKS_CACHE otherwise")
    parser.add_argument(
        "--corpus", choices=("debian", "builtin"), default="debian", help="real documents, or a few made-up ones"
    )
    return parser


def _parts(value: str) -> list[str]:
    return _chosen(value, PARTS, "part")


def _peers(value: str) -> list[str]:
    return [] if value == "none" else _chosen(value, tuple(PEERS), "peer")


def _chosen(value: str, known: tuple[str, ...], what: str) -> list[str]:
    names = [each.strip() for each in value.split(",") if each.strip()]
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"unknown {what} {', '.join(unknown)}; known: {', '.join(known)}")
    return names


def _machine() -> dict[str, Any]:
    packages = {name: version(name) for name in ("polars", "pyarrow", "ray", "numba")}
    return {"cores": os.cpu_count(), "python": platform.python_version(), **packages}
