"""The command line: which parts to run, and the ratios at the end."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from engine_comparison.environments import cache_folder

from audio_comparison.decoding import decoding_cases, decoding_ratios, make_clips
from audio_comparison.detection import quality_cases, vad_cases, vad_ratios, write_speech
from audio_comparison.prompts import fetch_prompts
from audio_comparison.real_run import run_real

PARTS = ("decode", "vad", "quality", "real")


def main() -> int:
    """Measure, print, return zero."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer recordings and rounds")
    parser.add_argument("--json", action="store_true", help="print one JSON object with cases and ratios")
    parser.add_argument("--part", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--work", type=Path, help="folder for what is written; a temporary one unless given")
    parser.add_argument("--corpora", type=Path, help="folder for fetched packages; also CURATOR_BENCHMARKS_CORPORA")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.work or Path(temporary)
        report = measure(args.part.split(","), folder, _corpora(args.corpora), quick=args.quick)
    print(json.dumps(report, indent=1) if args.json else text_of(report))
    return 0


def measure(parts: list[str], folder: Path, corpora: Path, *, quick: bool) -> dict[str, Any]:
    """Run the parts asked for and compute ratios."""
    prompts = fetch_prompts(corpora)
    rounds = 2 if quick else 5
    report: dict[str, Any] = {"unit": "seconds of sound per CPU second", "cases": {}, "ratios": {}}
    if "decode" in parts:
        cases = decoding_cases(make_clips(prompts, folder / "clips", count=12 if quick else 60), rounds)
        report["cases"] |= cases
        report["ratios"] |= decoding_ratios(cases)
    if "vad" in parts:
        cases = vad_cases(write_speech(prompts, folder / "speech", count=60 if quick else 200), rounds)
        report["cases"] |= cases
        report["ratios"] |= vad_ratios(cases)
    if "quality" in parts:
        report["cases"] |= quality_cases(write_speech(prompts, folder / "rated", count=6 if quick else 20))
    if "real" in parts:
        report["real data"] = run_real(prompts, folder / "real", recognised=20 if quick else 80)
    return report


def text_of(report: dict[str, Any]) -> str:
    """Return the report as lines."""
    lines = [report["unit"]]
    for title in ("cases", "ratios", "real data"):
        lines += ["", title, *(f"  {name:<64}{value!s:>14}" for name, value in report.get(title, {}).items())]
    return "\n".join(lines)


def _corpora(chosen: Path | None) -> Path:
    return chosen or Path(os.environ.get("CURATOR_BENCHMARKS_CORPORA") or cache_folder() / "corpora")
