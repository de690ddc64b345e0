"""The command line of the comparison."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from engine_comparison.cases import FAMILIES, full_cases, quick_cases
from engine_comparison.environments import ENGINES
from engine_comparison.report import ratios, text
from engine_comparison.sitting import Sitting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine_comparison.cases import Case


def main(description: str, arguments: Sequence[str] | None = None) -> None:
    """Run what the arguments ask for and print it."""
    parser = _parser(description)
    options = parser.parse_args(arguments)
    offered = quick_cases() if options.quick else full_cases()
    if unknown := [name for name in options.case if not any(_is_chosen(case, [name]) for case in offered)]:
        parser.error(f"there is no case {', '.join(unknown)}; --list shows those there are")
    cases = [case for case in offered if _is_chosen(case, options.case)]
    if options.list:
        print(_listing(cases, options.json))
        return
    # Ended from outside, it still has to stop the engine that runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    load_before = os.getloadavg()[0]
    sitting = Sitting()
    sitting.run(cases, options.engine, are_grouped=options.quick, times=options.repeat)
    report = {
        "machine": {**_machine(), "load_before": load_before, "load_after": os.getloadavg()[0]},
        "cases": {case.name: sitting.figures[case.name] for case in cases if case.name in sitting.figures},
        "failures": sitting.failures,
    }
    report["ratios"] = ratios(report["cases"])
    print(json.dumps(report, indent=2) if options.json else text(report))


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description,
        epilog="families: " + "; ".join(f"({key}) {title}" for key, title in FAMILIES.items()),
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, about two minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--list", action="store_true", help="list cases and engines and run nothing")
    parser.add_argument("--case", type=_names, default=[], help="families or cases, with commas: a,b,'c held'")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run each case N times and take medians")
    parser.add_argument("--engine", type=_engines, default=list(ENGINES), help=f"any of {','.join(ENGINES)}")
    return parser


def _names(value: str) -> list[str]:
    return [each.strip() for each in value.split(",") if each.strip()]


def _engines(value: str) -> list[str]:
    names = _names(value)
    if unknown := [name for name in names if name not in ENGINES]:
        raise argparse.ArgumentTypeError(f"unknown engine {', '.join(unknown)}; known: {', '.join(ENGINES)}")
    return names


def _is_chosen(case: Case, names: Sequence[str]) -> bool:
    return not names or case.family in names or case.name in names


def _listing(cases: list[Case], is_json: bool) -> str:  # noqa: FBT001 - a flag of the command line
    if is_json:
        engines = {name: engine.summary for name, engine in ENGINES.items()}
        return json.dumps({"engines": engines, "cases": [case.to_dict() for case in cases]}, indent=2)
    lines = [f"{name:18} {engine.summary}" for name, engine in ENGINES.items()]
    return "\n".join([*lines, "", *(f"{case.name:18} {', '.join(case.engines)}" for case in cases)])


def _machine() -> dict[str, Any]:
    return {"cores": os.cpu_count(), "python": platform.python_version(), "ray": version("ray")}
