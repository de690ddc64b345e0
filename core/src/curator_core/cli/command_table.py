"""Which sub-commands there are. Only names and summaries: a command's module is imported when it is chosen."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curator_core.registry.refusals import KNOWN_COMMANDS, plugin_refusal
from curator_core.values.errors import PluginError, UnknownNameError

if TYPE_CHECKING:
    from curator_core.registry import Registered, Registry
    from curator_core.values.specs import CommandSpec

__all__ = ["BUILT_IN", "Command", "find_command", "plugin_commands"]


@dataclass(frozen=True)
class Command:
    """A sub-command, built in unless a plugin declared it (``registered``)."""

    name: str
    summary: str
    registered: Registered[CommandSpec] | None = None

    def load(self) -> Any:
        """Import the command: a module, or an object, with ``add_arguments(parser)`` and ``run(args)``.

        Raises:
            PluginError: A plugin's command does not offer ``add_arguments`` and ``run``.
        """
        if self.registered is None:
            return importlib.import_module(f"curator_core.cli.commands.{self.name}")
        loaded = self.registered.load()
        if not (callable(getattr(loaded, "add_arguments", None)) and callable(getattr(loaded, "run", None))):
            raise PluginError(
                f"command {self.name!r}: {self.registered.spec.target} has no add_arguments(parser) and run(args)",
                fix=f"report this to the authors of {self.registered.plugin.candidate.provider}",
            )
        return loaded


BUILT_IN = (
    Command("run", "Run a pipeline or a workflow."),
    Command("validate", "Check pipeline files without running them."),
    Command("explain", "Show what a pipeline would do: stages, resources, columns."),
    Command("preview", "Show a few rows before and after each stage."),
    Command("quarantine", "Look at what could not be processed, and retry it."),
    Command("simulate", "Show how a pipeline would run on many machines, in virtual time."),
    Command("stages", "List the installed stages, or show one."),
    Command("workflows", "List the installed workflows, or show one."),
    Command("plugins", "List the plugins and their state."),
    Command("schema", "Print a JSON schema of pipeline files, for editors."),
)


def plugin_commands(registry: Registry) -> list[Command]:
    """Return the commands of plugins; one whose short name is taken is called by its full name."""
    taken = {command.name for command in BUILT_IN}
    found: list[Command] = []
    for full_name, registered in registry.commands.items():
        name = registered.spec.name if registered.spec.name not in taken else full_name
        taken.add(name)
        found.append(Command(name, registered.spec.summary, registered))
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
