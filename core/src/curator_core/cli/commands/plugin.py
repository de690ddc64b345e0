"""``curator plugin``: start a plugin of your own, or check one against the contract."""

from __future__ import annotations

import pathlib
from collections import Counter
from typing import TYPE_CHECKING

from curator_core.cli import exit_codes
from curator_core.cli.pipeline_arguments import add_json_argument
from curator_core.cli.terminal import paint, print_data, print_json, print_message

if TYPE_CHECKING:
    import argparse

    from curator_core.testing import CheckResult
    from curator_core.testing.check import Outcome

__all__ = ["add_arguments", "run"]

_STYLES: dict[Outcome, str] = {"passed": "green", "failed": "red", "skipped": "dim", "expected failure": "yellow"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=("new", "check"), help="make a new plugin, or check an installed one")
    parser.add_argument("name", metavar="NAME", help="name of the plugin, in snake case")
    parser.add_argument("--dir", default=".", metavar="DIR", help="folder to make the new plugin in (default: here)")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Make or check a plugin."""
    if args.action == "new":
        return _new(args.name, pathlib.Path(args.dir), as_json=args.json)
    return _check(args.name, as_json=args.json)


def _new(name: str, folder: pathlib.Path, *, as_json: bool) -> int:
    from curator_core.scaffold import new_plugin

    files = [str(path) for path in new_plugin(name, folder)]
    if as_json:
        print_json(files)
    else:
        print_data("\n".join(files))
    print_message("next: install it (pip install -e FOLDER) and run its tests (pytest FOLDER)")
    return exit_codes.OK


def _check(name: str, *, as_json: bool) -> int:
    from curator_core.testing import bound_checks

    results = [bound.result() for bound in bound_checks(name)]
    if as_json:
        print_json([_values(result) for result in results])
    else:
        for subject in dict.fromkeys(result.subject for result in results):
            _print_subject(subject, [result for result in results if result.subject == subject])
    return exit_codes.FAILED if any(result.outcome == "failed" for result in results) else exit_codes.OK


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
