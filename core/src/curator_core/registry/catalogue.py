"""The registry: all plugins, what they offer, and the way from a name to a class."""

from __future__ import annotations

import inspect
import keyword
import logging
import os
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from curator_core.registry.declarations import SNAKE_CASE, declaration_for
from curator_core.registry.discovery import Selection, core_candidate, discover, settle_collisions
from curator_core.registry.loading import OBSERVER_HOOKS, load_plugin, one_line
from curator_core.registry.plugin_info import CORE, Candidate, PluginInfo, official_distribution
from curator_core.registry.refusals import KNOWN_PLUGINS, refusal
from curator_core.registry.registered import Registered
from curator_core.values.errors import ConfigError, PluginError, UnknownNameError
from curator_core.values.specs import CommandSpec, ExecutorSpec, StageSpec, TaskTypeSpec, WorkflowSpec

if TYPE_CHECKING:
    import types
    from collections.abc import Collection, Iterable, Mapping

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.registry.registered import RegisteredStage

__all__ = ["ONCE_IN_CORE", "Registry", "default_registry", "make_stage"]

logger = logging.getLogger(__name__)

ONCE_IN_CORE = {
    "core.sample": "table.sample",
    "core.select_columns": "table.select",
    "core.where": "table.where",
}
"""Stages that core had; they are known by these names whether or not the plugin that has them now is installed."""

SpecT = TypeVar("SpecT")


class Registry:
    """Every installed plugin and what it offers. Nothing is imported before something is asked.

    >>> registry = Registry(allow=["table"])
    >>> "table.where" in registry.stages
    True

    Args:
        allow: If given, only these plugins (and core) are imported.
        block: These plugins are not imported.
        candidates: Plugins to consider beside core, instead of those that are installed.
    """

    def __init__(
        self,
        *,
        allow: Iterable[str] | None = None,
        block: Iterable[str] = (),
        candidates: Iterable[Candidate] | None = None,
    ) -> None:
        self._selection = Selection(None if allow is None else frozenset(allow), frozenset(block))
        self._candidates = None if candidates is None else [core_candidate(), *candidates]
        self._by_type: dict[type, dict[str, Any]] = {}
        self._reported: set[tuple[str, str]] = set()  # plugins and hooks that have failed

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Registry:
        """Make a registry with the lists in ``CURATOR_PLUGINS`` and ``CURATOR_DISABLE_PLUGINS``."""
        selection = Selection.from_environment(os.environ if environment is None else environment)
        return cls(allow=selection.allow, block=selection.block)

    @classmethod
    def of_module(cls, module: types.ModuleType) -> Registry:
        """Make a registry of core and one plugin module, which need not be installed.

        A module that is not installed gets the name of its package, without ``curator_``.
        """
        installed = [each for each in discover() if each.value == module.__name__]
        name = module.__name__.partition(".")[0].removeprefix("curator_")
        candidates = installed or [Candidate(name, module.__name__)]
        return cls(candidates=[each for each in candidates if each.name != CORE])

    @cached_property
    def plugins(self) -> list[PluginInfo]:
        """All installed plugins with their status: core first, the others by name."""
        candidates = discover() if self._candidates is None else self._candidates
        losers = settle_collisions(candidates)
        return [self._admit(each, losers.get(each)) for each in candidates]

    def _admit(self, candidate: Candidate, lost_because: str | None) -> PluginInfo:
        if blocked := self._selection.refusal_of(candidate.name):
            return PluginInfo(candidate).with_failure("blocked", blocked[0], fix=blocked[1])
        if lost_because:
            fix = f"keep one of them, e.g. pip uninstall {candidate.distribution}"
            return PluginInfo(candidate).with_failure("shadowed", lost_because, fix=fix)
        return load_plugin(candidate)

    @cached_property
    def warnings(self) -> list[str]:
        """One line for each plugin that is unusable or misbehaves, and for list entries that match nothing."""
        remarks = [each.describe() for each in self.plugins if each.warning or not each.is_ok]
        return remarks + self._selection.unmatched({each.name for each in self.plugins})

    @property
    def stages(self) -> dict[str, RegisteredStage]:
        """All stages of working plugins by full name (``text.word_count``), without aliases."""
        return self.declared(StageSpec)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Other names of stages, with the full name that each stands for: good wherever a stage is named."""
        declared = {
            f"{plugin.name}.{spec.name}": spec.alias_of
            for plugin in self.plugins
            for spec in plugin.specs.get(StageSpec, ())
            if spec.alias_of is not None
        }
        return dict(sorted({**ONCE_IN_CORE, **declared}.items()))

    def canonical_name(self, name: str) -> str:
        """Return the full name of a stage, or of a part of one, where an alias is given; any other name as it is.

        Plans, ledgers and quarantines hold it.

        >>> registry = Registry(allow=["table"])
        >>> registry.canonical_name("core.where"), registry.canonical_name("table.read_jsonl.files")
        ('table.where', 'table.read_jsonl.files')
        """
        stage = ".".join(name.split(".", 2)[:2])
        return self.aliases.get(stage, stage) + name[len(stage) :]

    @property
    def task_types(self) -> dict[str, Registered[TaskTypeSpec]]:
        """All task types by full name (``image.ImageBatch``)."""
        return self.declared(TaskTypeSpec)

    @property
    def executors(self) -> dict[str, Registered[ExecutorSpec]]:
        """All executors by full name (``core.local``)."""
        return self.declared(ExecutorSpec)

    @property
    def workflows(self) -> dict[str, Registered[WorkflowSpec]]:
        """All workflows by full name."""
        return self.declared(WorkflowSpec)

    @property
    def commands(self) -> dict[str, Registered[CommandSpec]]:
        """All sub-commands that plugins add, by full name."""
        return self.declared(CommandSpec)

    def declared(self, spec_type: type[SpecT]) -> dict[str, Registered[SpecT]]:
        """Return everything of one kind that working plugins declare, by full name, in order."""
        if spec_type not in self._by_type:
            found = [
                Registered(spec, each)
                for each in self.plugins
                for spec in each.specs.get(spec_type, ())
                if getattr(spec, "alias_of", None) is None
            ]
            self._by_type[spec_type] = {each.full_name: each for each in sorted(found, key=lambda each: each.full_name)}
        return self._by_type[spec_type]

    def find(self, spec_type: type[SpecT], name: str) -> Registered[SpecT]:
        """Return what a name or an alias stands for; a name without a plugin belongs to core.

        Raises:
            UnknownNameError: No plugin offers it.
            PluginError: The plugin that would is missing, blocked, shadowed, incompatible or broken.
        """
        known = self.declared(spec_type)
        asked = name
        if spec_type is StageSpec:
            name = self.aliases.get(name, name)
        if name in known:
            return known[name]
        names: Collection[str] = [*known, *self.aliases] if spec_type is StageSpec else known
        # Stages always carry their plugin's name, so that a pipeline says where each comes from.
        if "." not in name and spec_type is not StageSpec:
            if (full_name := f"{CORE}.{name}") in known:
                return known[full_name]
            names = [each.removeprefix(f"{CORE}.") for each in known]
        raise refusal(declaration_for(spec_type).noun, name, known=names, plugins=self.plugins, asked=asked)

    def stage_target(self, name: str) -> type[ProcessingStage[Any, Any]] | ProcessingStage[Any, Any]:
        """Import the stage class of a name (made of a function, perhaps), or the finished stage that is there.

        Raises:
            UnknownNameError: No plugin offers it.
            MissingPackageError: It needs a package that is not installed.
            PluginError: Its plugin is unusable, or what it names is not a stage.
        """
        from curator_core.authoring.function_stage import MadeOfFunction
        from curator_core.authoring.stage import ProcessingStage

        registered = self.find(StageSpec, name)
        target = registered.load()
        fix = f"update {registered.plugin.candidate.provider}, or report this to its author"
        if isinstance(target, MadeOfFunction):
            target = type(target)
        if isinstance(target, ProcessingStage):
            return target
        if not (isinstance(target, type) and issubclass(target, ProcessingStage)):
            raise PluginError(f"stage {name!r}: {registered.spec.target} is not a ProcessingStage", fix=fix)
        if inspect.isabstract(target):
            lacking = ", ".join(sorted(target.__abstractmethods__))
            raise PluginError(f"stage {name!r}: {registered.spec.target} does not define {lacking}", fix=fix)
        return target

    def stage_class(self, name: str) -> type[ProcessingStage[Any, Any]]:
        """Import the class of a stage; see :meth:`stage_target` for what it raises."""
        target = self.stage_target(name)
        return target if isinstance(target, type) else type(target)

    def make_stage(self, name: str, params: Mapping[str, Any]) -> ProcessingStage[Any, Any]:
        """Make a stage from its name and checked parameters.

        Raises:
            ConfigError: The parameters do not fit the stage.
        """
        from curator_core.parameters.params import build_stage

        return build_stage(self.stage_target(name), name, params)

    def check_new_plugin_name(self, name: str) -> None:
        """Check that a new plugin may have a name.

        Raises:
            ConfigError: It is not snake_case, a keyword of Python, or the name of another plugin.
        """
        if not SNAKE_CASE.fullmatch(name):
            raise ConfigError(f"plugin name {name!r} is not snake_case", fix="use lower-case words, e.g. web_pages")
        if keyword.iskeyword(name):
            raise ConfigError(f"plugin name {name!r} is a word of Python", fix="use another name")
        owner = official_distribution(name) if name in {CORE, *KNOWN_PLUGINS} else None
        owner = owner or next((each.candidate.provider for each in self.plugins if each.name == name), None)
        if owner is not None:
            raise ConfigError(f"the plugin name {name!r} is taken by {owner}", fix="use another name")

    def producers_of(self, column: str) -> list[str]:
        """Return the stages that add a column with their default parameters, installed ones first."""
        names = [name for name, each in self.stages.items() if column in each.spec.produces]
        return sorted(names, key=lambda name: not self.stages[name].available)

    def notify(self, hook: str, **arguments: Any) -> None:
        """Call an observer hook of every plugin; one that fails is logged once and does not disturb the run.

        Raises:
            UnknownNameError: There is no such hook.
        """
        if hook not in OBSERVER_HOOKS:
            raise UnknownNameError("observer hook", hook, OBSERVER_HOOKS)
        for plugin in self.plugins:
            if plugin.manager is None or not plugin.is_ok:
                continue
            try:
                getattr(plugin.manager.hook, hook)(**arguments)
            # Isolation: an observer must not end the run that it observes.
            except (Exception, SystemExit) as error:
                if (plugin.name, hook) in self._reported:
                    continue
                self._reported.add((plugin.name, hook))
                what = "plugin %r: %s raised %s; the run continues, and this is not reported again"
                logger.warning(what, plugin.name, hook, one_line(error))
                logger.debug("traceback of %s in plugin %r", hook, plugin.name, exc_info=error)


@cache
def default_registry() -> Registry:
    """Return the registry of this process, made on first use from the environment."""
    return Registry.from_environment()


def make_stage(name: str, /, **params: Any) -> ProcessingStage[Any, Any]:
    """Make a stage by the name that pipeline files use.

    >>> make_stage("table.select", drop=["html"]).name
    'table.select'

    Raises:
        UnknownNameError: No plugin offers it.
        PluginError: Its plugin or a package it needs is missing or broken.
        ConfigError: The parameters do not fit the stage.
    """
    return default_registry().make_stage(name, params)
