"""``curator validate``: check pipeline files, run nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.cli import exit_status
from curator_core.cli.exit_status import report_failure
from curator_core.cli.pipeline_arguments import add_shared, load
from curator_core.cli.terminal import paint, print_data, print_json
from curator_core.values.errors import CuratorError

if TYPE_CHECKING:
    import argparse

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pipelines", metavar="P.yaml", nargs="+", help="pipeline files")
    add_shared(parser, "--set", "--no-inputs", "--json")


def run(args: argparse.Namespace) -> int:
    """Check every file, also behind one that is wrong."""
    status = exit_status.OK
    results: list[dict[str, Any]] = []
    for path in args.pipelines:
        try:
            loaded = load(path, args.variables)
            if loaded.workflow is None:
                plan = loaded.build(check_inputs=not args.no_inputs)
            else:
                loaded.check_steps(check_inputs=not args.no_inputs)
        except CuratorError as error:
            status = max(status, report_failure(error, with_traceback=args.traceback))
            results.append({"path": path, "valid": False, "error": str(error)})
            continue
        if loaded.workflow is not None:
            results.append({"path": path, "valid": True, "workflow": loaded.workflow.name})
            what = f"the workflow {loaded.workflow.name!r}"
        else:
            names = [planned.stage.name for planned in plan.stages]
            results.append({"path": path, "valid": True, "stages": names})
            what = f"{len(names)} stages"
        if not args.json:
            print_data(f"{path}: {paint('ok', 'green')}, {what}")
    if args.json:
        print_json(results)
    return status
