"""The command line: which parts to run, and the ratios at the end."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from engine_comparison.environments import cache_folder

from image_comparison.jpeg_quality import jpeg_cases, jpeg_ratios
from image_comparison.pictures import photographs
from image_comparison.real_run import run_real
from image_comparison.tar_reading import tar_cases, tar_ratios

PARTS = ("jpeg", "tar", "real")


def main() -> int:
    """Measure, print, return zero."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pictures and rounds")
    parser.add_argument("--json", action="store_true", help="print one JSON object with cases and ratios")
    parser.add_argument("--part", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--work", type=Path, help="folder for shards; a temporary one unless given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.work or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        report = measure(args.part.split(","), folder, quick=args.quick)
    print(json.dumps(report, indent=1) if args.json else text_of(report))
    return 0


def measure(parts: list[str], folder: Path, *, quick: bool) -> dict[str, Any]:
    """Run the parts asked for and compute ratios."""
    corpora = Path(os.environ.get("CURATOR_BENCHMARKS_CORPORA") or cache_folder() / "corpora")
    rounds = 2 if quick else 5
    report: dict[str, Any] = {
        "unit": "CPU milliseconds per image (jpeg, header); samples per CPU second (tar)",
        "cases": {},
        "ratios": {},
    }
    if "jpeg" in parts:
        cases = jpeg_cases(photographs(corpora, 30 if quick else 100), rounds)
        report["cases"] |= cases
        report["ratios"] |= jpeg_ratios(cases)
    if "tar" in parts:
        cases = tar_cases(folder, samples=4_000 if quick else 20_000, rounds=rounds)
        report["cases"] |= cases
        report["ratios"] |= tar_ratios(cases)
    if "real" in parts:
        report["real data"] = run_real(corpora, folder / "real")
    return report


def text_of(report: dict[str, Any]) -> str:
    """Return the report as lines."""
    lines = [report["unit"]]
    for title in ("cases", "ratios", "real data"):
        lines += ["", title, *(f"  {name:<64}{value!s:>14}" for name, value in report.get(title, {}).items())]
    return "\n".join(lines)
