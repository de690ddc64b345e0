"""``curator workflows``: list the installed workflows, or show all about one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.cli.commands.stages import needs_text
from curator_core.cli.pipeline_arguments import add_shared
from curator_core.cli.terminal import columns_text, paint, print_data, print_json
from curator_core.values.errors import ConfigError
from curator_core.values.specs import WorkflowSpec

if TYPE_CHECKING:
    import argparse

    from curator_core.registry import Registered

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "action")
    parser.add_argument("name", nargs="?", metavar="NAME", help="workflow to show, such as dedup.fuzzy")
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> None:
    """Print the list, or one workflow."""
    from curator_core.registry import default_registry

    registry = default_registry()
    if args.action == "show":
        if args.name is None:
            raise ConfigError("workflows show: which one?", fix="curator workflows lists them")
        _show(registry.find(WorkflowSpec, args.name), args.name, as_json=args.json)
    elif args.json:
        print_json(
            [
                {"name": name, "plugin": each.plugin.name, "summary": each.spec.summary, "available": each.available}
                for name, each in registry.workflows.items()
            ]
        )
    else:
        rows = [(name, each.spec.summary + needs_text(each)) for name, each in registry.workflows.items()]
        print_data(columns_text([("NAME", "SUMMARY"), *rows]))


def _show(registered: Registered[WorkflowSpec], name: str, *, as_json: bool) -> None:
    from curator_core.cli.declared_page import example_of, print_parameters, workflow_page
    from curator_core.parameters.signature import parameters_of

    page = workflow_page(name, registered)
    if as_json:
        print_json(page)
        return
    print_data(f"{paint(name, 'bold')}  (workflow, plugin {registered.plugin.name})")
    print_data(page["description"] or registered.spec.summary)
    print_parameters(page["parameters"])
    example = example_of(name, list(parameters_of(registered.load()).values()))
    print_data("\nexample\n  version: 1\n  workflow:")
    print_data("\n".join(f"    {line}" for line in example.splitlines()))
