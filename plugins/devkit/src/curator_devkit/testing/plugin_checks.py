"""Rules for plugins. Every function here is a check."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import importlib_metadata

from curator_core.sdk import DECLARATIONS, HEAVY_MODULES, official_distribution
from curator_core.specs import API_VERSION
from curator_devkit.testing.check import CheckSkipped, require
from curator_devkit.testing.fresh_import import modules_loaded_by

if TYPE_CHECKING:
    from importlib_metadata import IDistribution

    from curator_devkit.testing.subjects import PluginSubject

_MAX_SUMMARY = 100


def check_plugin_loads(plugin: PluginSubject) -> None:
    """A plugin loads: its module imports, its hooks are known and return valid specs."""
    info = plugin.info
    require(info.is_ok, f"the plugin is {info.status}: {info.cause}", fix=info.fix or "repair the cause")


def check_plugin_declares_api(plugin: PluginSubject) -> None:
    """A plugin module says which plugin API it was written for."""
    declared = getattr(plugin.info.module, "CURATOR_API", None)
    require(
        isinstance(declared, tuple) and declared[:1] == API_VERSION[:1],
        f"CURATOR_API is {declared!r}, expected a version like {API_VERSION}",
        fix=f"write CURATOR_API = {API_VERSION} in the plugin module",
    )


def check_plugin_imports_only_light_modules(plugin: PluginSubject) -> None:
    """A plugin module imports nothing heavy, because every listing imports it."""
    loaded = modules_loaded_by(plugin.info.candidate.value)
    heavy = sorted(HEAVY_MODULES & loaded)
    require(
        not heavy,
        f"importing {plugin.info.candidate.value} also imports {', '.join(heavy)}",
        fix="name stages by target strings; import in their modules; keep the package's __init__ empty",
    )


def check_plugin_hooks_are_repeatable(plugin: PluginSubject) -> None:
    """A declaration hook returns the same specs each time it is asked."""
    plugin.require_loaded()
    manager = plugin.info.manager
    assert manager is not None
    for declaration in DECLARATIONS:
        answers = [spec for answer in getattr(manager.hook, declaration.hook)() for spec in answer]
        require(
            answers == list(plugin.info.specs[declaration.spec_type]),
            f"{declaration.hook} returned something else when it was asked again",
            fix="return constants",
        )


def check_plugin_offers_something(plugin: PluginSubject) -> None:
    """A plugin implements at least one hook."""
    plugin.require_loaded()
    assert plugin.info.manager is not None
    require(
        plugin.info.manager.get_hookcallers(plugin.info.module),
        "no hook is implemented",
        fix="implement curator_stages() and mark it with @hookimpl",
    )


def check_plugin_targets_exist(plugin: PluginSubject) -> None:
    """Everything a plugin declares can be imported from where it says, and its stages are stages."""
    plugin.require_loaded()
    for declaration in DECLARATIONS:
        for registered in plugin.registry.declared(declaration.spec_type).values():
            if registered.plugin.name == plugin.info.name and registered.available:
                registered.load()
    for stage in plugin.stages:
        if stage.available:
            plugin.registry.stage_target(stage.full_name)


def check_plugin_summaries_present(plugin: PluginSubject) -> None:
    """Everything a plugin declares has a summary of one line for listings."""
    plugin.require_loaded()
    for declaration in DECLARATIONS:
        for spec in plugin.info.specs[declaration.spec_type]:
            if getattr(spec, "alias_of", None) is not None:
                continue  # it is listed by its canonical name
            require(
                spec.summary.strip() and "\n" not in spec.summary and len(spec.summary) <= _MAX_SUMMARY,
                f"the summary of {declaration.noun} {spec.name!r} is {spec.summary!r}",
                fix=f"write one sentence of at most {_MAX_SUMMARY} characters",
            )


def check_plugin_requires_match_extra(plugin: PluginSubject) -> None:
    """A stage that needs further packages names the extra that installs them, and the distribution has that extra."""
    plugin.require_loaded()
    needing = [each for each in plugin.stages if each.spec.requires or each.spec.extra]
    if not needing:
        raise CheckSkipped("no stage needs further packages")
    extras = _distribution(plugin).metadata.get_all("Provides-Extra") or []
    for stage in needing:
        require(
            stage.spec.requires and stage.spec.extra in extras,
            f"{stage.full_name} requires {stage.spec.requires} with the extra {stage.spec.extra!r}; extras: {extras}",
            fix="add the packages to [project.optional-dependencies] and name that extra in the StageSpec",
        )


def check_plugin_distribution_named(plugin: PluginSubject) -> None:
    """The distribution is called curator-<plugin>, so that no other can take the plugin's name."""
    name = _distribution(plugin).name
    require(
        plugin.info.candidate.is_official,
        f"the distribution is called {name!r}, expected {official_distribution(plugin.info.name)!r}",
        fix="rename the distribution or the entry point; or expect this failure, if a collision is unlikely",
    )


def check_plugin_depends_on_core(plugin: PluginSubject) -> None:
    """The distribution depends on curator-core, so that pip installs a version that fits."""
    if plugin.info.name == "core":
        raise CheckSkipped("is core itself")
    requirements = _distribution(plugin).requires or []
    require(
        any(each.lower().replace("_", "-").startswith("curator-core") for each in requirements),
        f"the distribution requires {requirements}, but not curator-core",
        fix='add "curator-core ~= 0.1" to its dependencies',
    )


def check_plugin_ships_type_information(plugin: PluginSubject) -> None:
    """The package has a py.typed marker, so that its users' type checkers see its types."""
    package = importlib.import_module(plugin.info.candidate.value.partition(".")[0])
    folder = Path(package.__file__ or "").parent
    if not hasattr(package, "__path__"):
        raise CheckSkipped("is a single module, which cannot have a marker")
    require(
        (folder / "py.typed").is_file(), f"{package.__name__} has no py.typed", fix="add an empty file py.typed to it"
    )


def _distribution(plugin: PluginSubject) -> IDistribution:
    if plugin.info.distribution is None:
        raise CheckSkipped("is not installed as a distribution")
    try:
        return importlib_metadata.distribution(plugin.info.distribution)
    except importlib_metadata.PackageNotFoundError as error:
        raise CheckSkipped("runs from a source folder, without the metadata of a distribution") from error
