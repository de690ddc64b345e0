"""A declared thing with its full name, and the import of what it names."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from curator_core.registry.declarations import declaration_for
from curator_core.registry.loading import one_line
from curator_core.registry.plugin_info import official_distribution
from curator_core.values.errors import MissingPackageError, PluginError
from curator_core.values.specs import StageSpec

if TYPE_CHECKING:
    from curator_core.registry.plugin_info import PluginInfo

__all__ = ["Registered", "RegisteredStage"]

SpecT = TypeVar("SpecT")


@dataclass(frozen=True)
class Registered(Generic[SpecT]):
    """A spec of a working plugin."""

    spec: SpecT
    plugin: PluginInfo

    @property
    def full_name(self) -> str:
        """Its name in pipelines: ``<plugin>.<name>``."""
        return f"{self.plugin.name}.{self._field('name')}"

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Packages it needs that are not installed."""
        return tuple(name for name in self._field("requires", ()) if not _is_installed(name.partition(".")[0]))

    @property
    def available(self) -> bool:
        """Whether every package it needs is installed."""
        return not self.missing

    @property
    def pip(self) -> str:
        """What to give to ``pip install`` for the packages it needs."""
        extra = self._field("extra")
        distribution = self.plugin.distribution or official_distribution(self.plugin.name)
        return f'"{distribution}[{extra}]"' if extra else " ".join(self.missing)

    def load(self) -> Any:
        """Import what the spec names.

        Raises:
            MissingPackageError: A package it needs is not installed.
            PluginError: The target cannot be imported.
        """
        what = f"{declaration_for(type(self.spec)).noun} {self.full_name!r}"
        if self.missing:
            raise MissingPackageError(what, package=", ".join(self.missing), pip=self.pip)
        target = self._field("target")
        module, _, attributes = target.partition(":")
        fix = f"update {self.plugin.candidate.provider}, or report this to its author"
        try:
            value: Any = importlib.import_module(module)
            for attribute in filter(None, attributes.split(".")):
                value = getattr(value, attribute)
        except (Exception, SystemExit) as error:  # isolation: code of a plugin may raise anything
            raise PluginError(f"{what} cannot be loaded from {target}: {one_line(error)}", fix=fix) from error
        return value

    def _field(self, name: str, default: Any = None) -> Any:
        return getattr(self.spec, name, default)


RegisteredStage: TypeAlias = Registered[StageSpec]
"""A stage of a working plugin."""


def _is_installed(top_level: str) -> bool:
    """Return whether a package can be found, without importing it."""
    try:
        return importlib.util.find_spec(top_level) is not None
    except (ImportError, ValueError):  # a module in sys.modules that has no spec
        return False
