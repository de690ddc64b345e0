"""``curator stages``: list the installed stages, or show all about one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.cli.pipeline_arguments import add_shared
from curator_core.cli.terminal import columns_text, paint, print_data, print_json
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from curator_core.registry import Registered, RegisteredStage, Registry

__all__ = ["add_arguments", "needs_text", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_shared(parser, "action")
    parser.add_argument("name", nargs="?", metavar="NAME", help="stage to show, such as text.word_count")
    parser.add_argument("--plugin", metavar="NAME", help="list only the stages of one plugin")
    parser.add_argument("--all", action="store_true", help="list aliases, too: other names of stages")
    parser.add_argument("--kind", metavar="KIND", help="list only one kind: reader, filter, modifier, writer, …")
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> None:
    """Print the list, or one stage."""
    from curator_core.registry import default_registry

    registry = default_registry()
    if args.action == "show":
        if args.name is None:
            raise ConfigError("stages show: which stage?", fix="for example: curator stages show table.sample")
        _show(args.name, registry, as_json=args.json)
        return
    if args.name is not None:
        raise ConfigError(f"stages list takes no name, got {args.name!r}", fix=f"curator stages show {args.name}")
    chosen = {
        name: each
        for name, each in registry.stages.items()
        if args.plugin in (None, each.plugin.name) and args.kind in (None, each.spec.kind)
    }
    aliases = {name: of for name, of in registry.aliases.items() if of in chosen} if args.all else {}
    if args.json:
        values = [_listing_values(name, each) for name, each in chosen.items()]
        print_json(values + [{**_listing_values(name, chosen[of]), "alias_of": of} for name, of in aliases.items()])
    else:
        rows = [(name, each.spec.kind, each.spec.summary + needs_text(each)) for name, each in chosen.items()]
        rows += [(name, chosen[of].spec.kind, f"Another name of {of}.") for name, of in aliases.items()]
        print_data(columns_text([("NAME", "KIND", "SUMMARY"), *rows]))


def needs_text(registered: Registered[Any]) -> str:
    """Return what a listing says of missing packages, if any are missing."""
    missing = ", ".join(registered.missing)
    return f" [needs {missing}: pip install {registered.pip}]" if missing else ""


def _listing_values(name: str, stage: RegisteredStage) -> dict[str, Any]:
    return {
        "name": name,
        "plugin": stage.plugin.name,
        "kind": stage.spec.kind,
        "summary": stage.spec.summary,
        "available": stage.available,
        "missing": list(stage.missing),
    }


def _show(name: str, registry: Registry, *, as_json: bool) -> None:
    from curator_core.cli.declared_page import print_parameters, stage_page

    page = stage_page(name, registry)
    if as_json:
        print_json(page)
        return
    print_data(f"{paint(page['name'], 'bold')}  ({page['kind']}, plugin {page['plugin']})")
    print_data(page["description"])
    if page["parameters"]:
        print_parameters(page["parameters"])
    for label in ("reads", "adds", "resources", "requires", "aliases"):
        if page[label]:
            shown = ", ".join(page[label]) if isinstance(page[label], list) else page[label]
            print_data(f"\n{label}: {shown}")
    if page["missing"]:
        print_data(f"missing: {', '.join(page['missing'])}; {page['install']}")
    print_data("\nexample\n" + "\n".join(f"  {line}" for line in page["example"].splitlines()))
