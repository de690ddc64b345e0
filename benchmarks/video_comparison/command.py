"""The command line: which parts to run, and the ratios at the end."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from video_comparison.composed import compose
from video_comparison.real_videos import fetch

PARTS = ("speed", "cuts", "clips", "executors", "gpu")
GOALS = {"precision": 0.95, "recall": 0.95, "busy_fraction": 0.95}


def main() -> int:
    """Measure, print, return zero when what must hold does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, cuts and clips: about two minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object with cases and ratios")
    parser.add_argument("--part", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--videos", type=Path, help="folder of the real videos; a cache unless given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cases = measure(args.part.split(","), fetch(args.videos), Path(temporary), quick=args.quick)
    report = {"cases": cases, "ratios": ratios(cases), "missed": missed(cases)}
    print(json.dumps(report, indent=1) if args.json else text_of(report))
    return 1 if report["missed"] else 0


def measure(parts: list[str], videos: dict[str, Path], folder: Path, *, quick: bool) -> dict[str, Any]:
    """Run the parts asked for."""
    cases: dict[str, Any] = {}
    everything = str(videos["bikes"].parent / "*.mp4")
    if "speed" in parts:
        from video_comparison.speed import compare

        cases |= compare([videos["bigbuckbunny"], videos["bikes"]], 3 if quick else 9)
    if "cuts" in parts:
        from video_comparison.correctness import cuts

        path = folder / "composed.mp4"
        truth = compose(videos, path, cuts=40 if quick else 200)
        for detector in ("adaptive", "content"):
            cases[f"cuts, {detector}"] = cuts(path, truth, detector)
    if "clips" in parts:
        from curator_video import SplitFixed, SplitScenes
        from video_comparison.correctness import clips

        splits = {"scenes": SplitScenes(), "fixed": SplitFixed(length_s=1.5, min_rest_s=0.5)}
        cases |= {f"clips, {name}": clips(everything, folder / name, each) for name, each in splits.items()}
    if "executors" in parts:
        from video_comparison.correctness import executors

        cases["executors"] = executors(everything, folder)
    if "gpu" in parts:
        from video_comparison.gpu_stage import busy

        cases["gpu stage"] = busy([videos["bikes"], videos["carphone_pristine"]], folder, 15 if quick else 40)
    return cases


def ratios(cases: dict[str, Any]) -> dict[str, float]:
    """Return how many times cheaper ours is, and the other figures that matter."""
    found: dict[str, float] = {}
    for name, case in cases.items():
        if "ratio" in case:
            found[f"{name}: plain loop / ours, CPU"] = case["ratio"]
        for figure in GOALS:
            if figure in case:
                found[f"{name}: {figure}"] = case[figure]
    return found


def missed(cases: dict[str, Any]) -> list[str]:
    """Return what must hold and does not."""
    found = [
        f"{name}: {figure} {case[figure]} is below {goal}"
        for name, case in cases.items()
        for figure, goal in GOALS.items()
        if case.get(figure, goal) < goal
    ]
    found += [each for case in cases.values() for each in case.get("wrong", [])]
    found += [f"{name}: the scenes differ" for name, case in cases.items() if not case.get("is_same", True)]
    if not cases.get("executors", {}).get("is_equal", True):
        found.append("executors: the files differ")
    return found


def text_of(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines = [f"{name}: {json.dumps(case)}" for name, case in report["cases"].items()]
    figures = [f"{value:10.3f}  {name}" for name, value in report["ratios"].items()]
    return "\n".join([*lines, "", *figures, *(f"MISSED {each}" for each in report["missed"])])
