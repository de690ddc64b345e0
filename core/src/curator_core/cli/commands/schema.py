"""``curator schema``: a JSON schema of pipeline files over the installed stages."""

from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING

from curator_core.cli.terminal import print_json, print_message

if TYPE_CHECKING:
    import argparse

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help="write to a file instead of standard output")


def run(args: argparse.Namespace) -> None:
    """Print or write the schema."""
    from curator_core.config.schema import pipeline_schema

    schema = pipeline_schema()
    if args.output is None:
        print_json(schema)
        return
    pathlib.Path(args.output).write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
    print_message(f"wrote {args.output}")
