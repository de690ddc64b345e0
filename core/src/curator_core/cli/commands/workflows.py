"""``curator workflows``: list the installed workflows, or show all about one."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from curator_core.cli.pipeline_arguments import add_json_argument
from curator_core.cli.terminal import columns_text, paint, print_data, print_json
from curator_core.values.errors import ConfigError
from curator_core.values.specs import WorkflowSpec

if TYPE_CHECKING:
    import argparse

    from curator_core.registry import Registered, Registry

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "show"), default="list", help="what to do (default: list)"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="workflow to show, such as dedup.fuzzy")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> None:
    """Print the list, or one workflow."""
    from curator_core.registry import default_registry

    registry = default_registry()
    if args.action == "show":
        if args.name is None:
            raise ConfigError("workflows show: which one?", fix="curator workflows lists them")
        _show(registry.find(WorkflowSpec, args.name), args.name, as_json=args.json)
    else:
        _list(registry, as_json=args.json)


def _list(registry: Registry, *, as_json: bool) -> None:
    if as_json:
        print_json(
            [
                {"name": name, "plugin": each.plugin.name, "summary": each.spec.summary, "available": each.available}
                for name, each in registry.workflows.items()
            ]
        )
        return
    rows = [(name, each.spec.summary + _missing(each)) for name, each in registry.workflows.items()]
    print_data(columns_text([("NAME", "SUMMARY"), *rows]))


def _missing(registered: Registered[WorkflowSpec]) -> str:
    names = ", ".join(registered.missing)
    return f" [needs {names}: pip install {registered.pip}]" if names else ""


def _show(registered: Registered[WorkflowSpec], name: str, *, as_json: bool) -> None:
    from curator_core.cli.parameter_text import description_of, example_of, parameter_lines, parameter_values
    from curator_core.parameters.signature import parameters_of

    cls: Any = registered.load()
    parameters = list(parameters_of(cls).values())
    if as_json:
        values = [parameter_values(each) for each in parameters]
        print_json({"name": name, "description": description_of(inspect.getdoc(cls)), "parameters": values})
        return
    print_data(f"{paint(name, 'bold')}  (workflow, plugin {registered.plugin.name})")
    print_data(description_of(inspect.getdoc(cls)) or registered.spec.summary)
    print_data("\nparameters")
    for line in parameter_lines([parameter_values(each) for each in parameters]):
        print_data(line)
    print_data("\nexample\n  version: 1\n  workflow:")
    print_data("\n".join(f"    {line}" for line in example_of(name, parameters).splitlines()))
