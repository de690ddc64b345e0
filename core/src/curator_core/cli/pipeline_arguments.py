"""Arguments that every command on a pipeline file takes."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from curator_core.pipelines.pipeline_file import LoadedPipeline

__all__ = ["add_inputs_argument", "add_json_argument", "add_pipeline_arguments", "load", "positive"]


def add_pipeline_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the file and its variables."""
    parser.add_argument("pipeline", metavar="P.yaml", help="pipeline file")
    add_set_argument(parser)


def add_set_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--set``."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="variables",
        help="value for ${NAME} in the file; may be repeated",
    )


def add_inputs_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--no-inputs``."""
    parser.add_argument(
        "--no-inputs",
        action="store_true",
        help="touch no file or address that the pipeline names; for a file you do not trust",
    )


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Declare ``--json``."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def positive(text: str) -> int:
    """Parse a whole number of at least one."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return number


def load(path: str, assignments: list[str]) -> LoadedPipeline:
    """Read a pipeline file with the variables of ``--set``."""
    from curator_core.pipelines.pipeline_file import load_pipeline

    return load_pipeline(path.replace("\n", " "), _variables(assignments))


def _variables(assignments: list[str]) -> dict[str, str]:
    variables: dict[str, str] = {}
    for each in assignments:
        name, equals, value = each.partition("=")
        if not equals or not name.isidentifier():
            raise ConfigError(f"--set {each}: expected NAME=VALUE", fix="for example --set INPUT=data/raw")
        variables[name] = value
    return variables
