"""The top level of the command line: find the sub-command, run it, turn what happens into an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import curator_core
from curator_core.cli import exit_status
from curator_core.cli.command_table import BUILT_IN, find_command, plugin_commands
from curator_core.cli.exit_status import TRACEBACK_VARIABLE, report_failure
from curator_core.cli.terminal import columns_text, print_data, print_message, safe_output, warning
from curator_core.values.errors import ConfigError
from curator_core.values.redaction import redact_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.registry import Registry

__all__ = ["main"]

_BAD_STATES = ("broken", "incompatible", "shadowed")


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``curator`` with some arguments (those of the process unless given) and return the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _survive_any_text()
    redact_logs()
    with safe_output():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    try:
        try:
            status = _dispatch(arguments)
        except SystemExit as stop:  # argparse ends this way, after saying why
            status = (stop.code or exit_status.OK) if isinstance(stop.code, int | None) else exit_status.FAILED
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a reader that went away can still be met
    except BrokenPipeError:
        # Standard output points nowhere from now on, so that the interpreter's last flush does not fail again.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_status.FAILED
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last border: a user never meets a traceback
        return report_failure(error, with_traceback="--traceback" in arguments)
    return status


def _dispatch(arguments: list[str]) -> int:
    from curator_core.registry import default_registry

    if not arguments:
        print_message(_help(default_registry()))
        return exit_status.USAGE
    first, *rest = arguments
    if first in ("-V", "--version"):
        print_data(f"curator {curator_core.__version__}")
        return exit_status.OK
    registry = default_registry()
    _warn_about_plugins(registry)
    if first in ("-h", "--help", "help"):
        print_data(_help(registry))
        return exit_status.OK
    if first.startswith("-"):
        raise ConfigError(f"unknown option {first!r} before the command", fix="see curator --help")
    command = find_command(first, registry)
    module = command.load()
    parser = argparse.ArgumentParser(prog=f"curator {command.name}", description=command.summary, allow_abbrev=False)
    module.add_arguments(parser)
    parser.add_argument("--traceback", action="store_true", help=f"show tracebacks (also {TRACEBACK_VARIABLE}=1)")
    parser.set_defaults(arguments=arguments)  # for commands that tell how to call them again
    status: int | None = module.run(parser.parse_args(rest))
    return status or exit_status.OK


def _help(registry: Registry) -> str:
    commands = [(f"  {each.name}", each.summary) for each in (*BUILT_IN, *plugin_commands(registry))]
    return f"""\
usage: curator COMMAND [ARGUMENTS]

Curate training data of every modality.

{columns_text([("commands:", ""), *commands])}

curator COMMAND --help says more about each; --version prints the version.
Exit status: 0 ok, 1 failed, 2 wrong usage or configuration, 3 finished with quarantined tasks, 130 interrupted,
143 terminated."""


def _warn_about_plugins(registry: Registry) -> None:
    for plugin in registry.plugins:
        if plugin.status in _BAD_STATES:
            warning(f"plugin {plugin.name!r} is {plugin.status}: {plugin.cause}; see curator plugins")
    described = {plugin.describe() for plugin in registry.plugins}
    for remark in registry.warnings:  # the rest: entries of the allow and block lists that match nothing
        if remark not in described:
            warning(remark)


def _survive_any_text() -> None:
    """Let characters that the locale cannot show come out as escapes instead of an exception."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
