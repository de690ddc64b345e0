"""What the registry knows about one plugin: who provides it, whether it works, and if not, why."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import types
    from collections.abc import Mapping

    import pluggy

__all__ = ["CORE", "Candidate", "PluginInfo", "PluginStatus", "normalise_distribution", "official_distribution"]

CORE = "core"
"""Name of the plugin that is built in."""

PluginStatus = Literal["ok", "blocked", "incompatible", "broken", "shadowed"]


@dataclass(frozen=True)
class Candidate:
    """An installed claim to a plugin name, not imported yet.

    Args:
        name: Name of the entry point, which is the plugin's name.
        value: Module the entry point names.
        distribution: Distribution that declares it; None for a module that is not installed.
        version: Version of that distribution.
        error: What went wrong while its metadata were read.
    """

    name: str
    value: str
    distribution: str | None = None
    version: str | None = None
    error: Exception | None = None

    @property
    def is_official(self) -> bool:
        """Whether the distribution is the one that owns the plugin's name."""
        return self.distribution is not None and (
            normalise_distribution(self.distribution) == official_distribution(self.name)
        )

    @property
    def provider(self) -> str:
        """The distribution and its version, for messages."""
        return f"{self.distribution or self.value} {self.version or ''}".rstrip()


@dataclass(frozen=True)
class PluginInfo:
    """A plugin and its state.

    >>> from curator_core.sdk import Registry
    >>> {each.name: each.status for each in Registry.from_environment().plugins}["core"]
    'ok'

    Args:
        candidate: Where it comes from.
        status: ``ok``, or why nothing of it is offered.
        cause: One line that says why the status is not ``ok``.
        fix: What the user can do about it.
        exception: The exception behind the cause, with its traceback, where there is one.
        warning: Something wrong with a plugin that works all the same.
        api: Plugin interface it was written for.
        load_s: Seconds that importing and asking it took.
        heavy_modules: Heavy packages that its import pulled in.
        module: The imported plugin module.
        manager: The pluggy manager that holds this plugin alone.
        specs: What it declares, by type of spec.
    """

    candidate: Candidate
    status: PluginStatus = "ok"
    cause: str | None = None
    fix: str | None = None
    exception: BaseException | None = None
    warning: str | None = None
    api: tuple[int, int] | None = None
    load_s: float = 0.0
    heavy_modules: tuple[str, ...] = ()
    module: types.ModuleType | None = None
    manager: pluggy.PluginManager | None = None
    specs: Mapping[type, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the plugin."""
        return self.candidate.name

    @property
    def distribution(self) -> str | None:
        """Distribution that provides it."""
        return self.candidate.distribution

    @property
    def version(self) -> str | None:
        """Version of that distribution."""
        return self.candidate.version

    @property
    def is_ok(self) -> bool:
        """Whether what it declares can be used."""
        return self.status == "ok"

    def describe(self) -> str:
        """Return one line: who it is, its status, and the cause or warning."""
        remark = self.cause or self.warning
        return f"plugin {self.name!r} ({self.candidate.provider}): {self.status}" + (f": {remark}" if remark else "")

    def with_failure(
        self, status: PluginStatus, cause: str, *, fix: str | None = None, exception: BaseException | None = None
    ) -> PluginInfo:
        """Return a copy that offers nothing, and says why."""
        return replace(self, status=status, cause=cause, fix=fix, exception=exception, specs={})


def normalise_distribution(name: str) -> str:
    """Return a distribution's name in the one spelling that indexes compare.

    >>> normalise_distribution("Curator_Text")
    'curator-text'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def official_distribution(plugin: str) -> str:
    """Return the distribution that owns a plugin name.

    >>> official_distribution("web_text")
    'curator-web-text'
    """
    return normalise_distribution(f"curator-{plugin}")
