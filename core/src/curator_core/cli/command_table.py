"""Which sub-commands there are. Only names and summaries: a command's module is imported when it is chosen."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from curator_core.registry.refusals import KNOWN_COMMANDS, plugin_refusal
from curator_core.values.errors import PluginError, UnknownNameError

if TYPE_CHECKING:
    import argparse

    from curator_core.registry import Registered, Registry
    from curator_core.values.specs import CommandSpec

__all__ = ["BUILT_IN", "Command", "CommandModule", "find_command", "plugin_commands"]


class CommandModule(Protocol):
    """What a command's module (or object) offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, args: argparse.Namespace) -> int | None:
        """Do it and return the exit status; None stands for zero."""


@dataclass(frozen=True)
class Command:
    """A sub-command.

    Args:
        name: What the user types.
        summary: One line for the help.
        module: Where a built-in command is.
        registered: What a plugin declared, for a command of a plugin.
    """

    name: str
    summary: str
    module: str = ""
    registered: Registered[CommandSpec] | None = None

    def load(self) -> CommandModule:
        """Import the command.

        Raises:
            PluginError: A plugin's command does not offer ``add_arguments`` and ``run``.
        """
        if self.registered is None:
            built_in: Any = importlib.import_module(f"curator_core.cli.commands.{self.module}")
            return built_in  # type: ignore[no-any-return]
        loaded: Any = self.registered.load()
        if not (callable(getattr(loaded, "add_arguments", None)) and callable(getattr(loaded, "run", None))):
            raise PluginError(
                f"command {self.name!r}: {self.registered.spec.target} has no add_arguments(parser) and run(args)",
                fix=f"report this to the authors of {self.registered.plugin.candidate.provider}",
            )
        return loaded  # type: ignore[no-any-return]


BUILT_IN = (
    Command("run", "Run a pipeline or a workflow.", "run"),
    Command("validate", "Check pipeline files without running them.", "validate"),
    Command("explain", "Show what a pipeline would do: stages, resources, columns.", "explain"),
    Command("preview", "Show a few rows before and after each stage.", "preview"),
    Command("quarantine", "Look at what could not be processed, and retry it.", "quarantine"),
    Command("simulate", "Show how a pipeline would run on many machines, in virtual time.", "simulate"),
    Command("stages", "List the installed stages, or show one.", "stages"),
    Command("workflows", "List the installed workflows, or show one.", "workflows"),
    Command("plugins", "List the plugins and their state.", "plugins"),
    Command("schema", "Print a JSON schema of pipeline files, for editors.", "schema"),
)


def plugin_commands(registry: Registry) -> list[Command]:
    """Return the commands of plugins; one whose short name is taken is called by its full name."""
    taken = {command.name for command in BUILT_IN}
    found: list[Command] = []
    for full_name, registered in registry.commands.items():
        name = registered.spec.name if registered.spec.name not in taken else full_name
        taken.add(name)
        found.append(Command(name, registered.spec.summary, registered=registered))
    return found


def find_command(name: str, registry: Registry) -> Command:
    """Return the command of a name.

    Raises:
        PluginError: It belongs to a known plugin that is not installed, or unusable.
        UnknownNameError: There is none; the nearest names are offered.
    """
    commands = {command.name: command for command in (*BUILT_IN, *plugin_commands(registry))}
    by_full_name = {each.registered.full_name: each for each in commands.values() if each.registered is not None}
    found = commands.get(name) or by_full_name.get(name)
    if found is not None:
        return found
    refused = plugin_refusal(f"command {name!r}", KNOWN_COMMANDS.get(name, ""), registry.plugins)
    raise refused or UnknownNameError("command", name, commands, fix="see curator --help")
