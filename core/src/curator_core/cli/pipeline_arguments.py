"""Arguments that several commands take, and the pipeline file that they name."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from curator_core.pipelines.pipeline_file import LoadedPipeline

__all__ = ["add_shared", "load", "positive"]


_ARGUMENTS: dict[str, dict[str, Any]] = {
    "action": {"nargs": "?", "choices": ("list", "show"), "default": "list", "help": "what to do (default: list)"},
    "pipeline": {"metavar": "P.yaml", "help": "pipeline file"},
    "--set": {
        "action": "append",
        "default": [],
        "metavar": "NAME=VALUE",
        "dest": "variables",
        "help": "value for ${NAME} in the file; may be repeated",
    },
    "--no-inputs": {
        "action": "store_true",
        "help": "touch no file or address that the pipeline names; for a file you do not trust",
    },
    "--json": {"action": "store_true", "help": "print JSON"},
}


def add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare arguments that several commands take, by name."""
    for name in names:
        parser.add_argument(name, **_ARGUMENTS[name])


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
