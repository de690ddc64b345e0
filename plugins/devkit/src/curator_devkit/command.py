"""``curator plugin``: start a plugin of your own, or check one against the contract."""

from __future__ import annotations

import pathlib
from collections import Counter
from typing import TYPE_CHECKING

from curator_core.sdk import paint, print_data, print_json, print_message

if TYPE_CHECKING:
    import argparse

    from curator_devkit.testing import CheckResult
    from curator_devkit.testing.check import Outcome

__all__ = ["add_arguments", "run"]

_STYLES: dict[Outcome, str] = {"passed": "green", "failed": "red", "skipped": "dim", "expected failure": "yellow"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=("new", "check"), help="make a new plugin, or check an installed one")
    parser.add_argument("name", metavar="NAME", help="name of the plugin, in snake case")
    parser.add_argument("--dir", default=".", metavar="DIR", help="folder to make the new plugin in (default: here)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Make or check a plugin; return 1 if a check failed."""
    if args.action == "new":
        return _new(args.name, pathlib.Path(args.dir), as_json=args.json)
    return _check(args.name, as_json=args.json)


def _new(name: str, folder: pathlib.Path, *, as_json: bool) -> int:
    from curator_devkit.scaffold import new_plugin

    files = [str(path) for path in new_plugin(name, folder)]
    if as_json:
        print_json(files)
    else:
        print_data("\n".join(files))
    print_message("next: install it (pip install -e FOLDER) and run its tests (pytest FOLDER)")
    return 0


def _check(name: str, *, as_json: bool) -> int:
    from curator_devkit.testing import bound_checks

    results = [bound.result() for bound in bound_checks(name)]
    if as_json:
        print_json([_values(result) for result in results])
    else:
        for subject in dict.fromkeys(result.subject for result in results):
            _print_subject(subject, [result for result in results if result.subject == subject])
    return 1 if any(result.outcome == "failed" for result in results) else 0


def _values(result: CheckResult) -> dict[str, str]:
    return {"subject": result.subject, "check": result.check, "outcome": result.outcome, "detail": result.detail}


def _print_subject(subject: str, results: list[CheckResult]) -> None:
    counts = Counter(result.outcome for result in results)
    totals = ", ".join(
        paint(f"{counts[outcome]} {outcome}", style) for outcome, style in _STYLES.items() if counts[outcome]
    )
    print_data(f"{subject}: {totals}")
    for result in results:
        if result.outcome == "failed":
            print_data("\n".join(f"    {line}" for line in result.detail.splitlines()))
