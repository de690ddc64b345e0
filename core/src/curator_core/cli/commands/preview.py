"""``curator preview``: a few rows before and after each stage, in this process, writing nothing."""

from __future__ import annotations

import dataclasses
import shutil
from typing import TYPE_CHECKING, Any

from curator_core.cli.pipeline_arguments import add_shared, load, positive
from curator_core.cli.terminal import print_data, print_json

if TYPE_CHECKING:
    import argparse

__all__ = ["add_arguments", "run"]

_DEFAULT_ROWS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "pipeline", "--set")
    parser.add_argument(
        "-n", "--rows", type=positive, default=_DEFAULT_ROWS, metavar="N", help="rows to read (default 5)"
    )
    parser.add_argument(
        "--width", type=positive, metavar="COLUMNS", help="width of the output (default: the terminal's)"
    )
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> None:
    """Print the preview."""
    from curator_core.cli.preview_rows import preview_plan
    from curator_core.cli.preview_text import preview_lines

    plan = load(args.pipeline, args.variables).build()
    preview = preview_plan(plan, rows=args.rows)
    if args.json:
        print_json(_jsonable(dataclasses.asdict(preview)))
        return
    width = args.width or shutil.get_terminal_size().columns
    for line in preview_lines(preview, width=width):
        print_data(line)


def _jsonable(value: Any) -> Any:
    """Return a value with bytes replaced by their size: a preview is for looking at."""
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, dict):
        return {str(key): _jsonable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(each) for each in value]
    return value
