"""Allow and block lists keep plugins from being imported at all."""

import pytest

from curator_core.registry import Registry
from curator_core.values.errors import PluginError

MUST_NOT_BE_IMPORTED = "raise AssertionError('imported')"
GOOD = """
@hookimpl
def curator_stages():
    return [StageSpec("one", target="x:Y")]
"""


def status_by_name(registry):
    return {each.name: each.status for each in registry.plugins}


def test_a_blocked_plugin_is_not_imported_and_says_so(site):
    site.install("toyblocked", MUST_NOT_BE_IMPORTED)
    registry = Registry.from_environment({"CURATOR_DISABLE_PLUGINS": "toyblocked"})

    assert status_by_name(registry)["toyblocked"] == "blocked"
    with pytest.raises(PluginError, match="blocked: it is in the block list CURATOR_DISABLE_PLUGINS") as caught:
        registry.stage_class("toyblocked.one")
    assert caught.value.fix == "remove 'toyblocked' from CURATOR_DISABLE_PLUGINS"


def test_only_allowed_plugins_and_core_are_imported(site):
    site.install("toyallowed", GOOD)
    site.install("toyother", MUST_NOT_BE_IMPORTED)
    registry = Registry.from_environment({"CURATOR_PLUGINS": " toyallowed , "})

    status = status_by_name(registry)
    assert status["toyallowed"] == "ok"
    assert status["core"] == "ok"
    assert status["toyother"] == "blocked"
    with pytest.raises(PluginError, match="not in the allow list CURATOR_PLUGINS") as caught:
        registry.stage_class("toyother.one")
    assert caught.value.fix == "add 'toyother' to CURATOR_PLUGINS"


def test_the_block_list_is_stronger_than_the_allow_list(site):
    site.install("toyboth", MUST_NOT_BE_IMPORTED)
    assert status_by_name(Registry(allow=["toyboth"], block=["toyboth"]))["toyboth"] == "blocked"


def test_the_lists_can_be_given_as_arguments(site):
    site.install("toyone", GOOD)
    assert status_by_name(Registry(block=["toyone"]))["toyone"] == "blocked"
    assert status_by_name(Registry(allow=[]))["toyone"] == "blocked"
    assert status_by_name(Registry(allow=["toyone"]))["toyone"] == "ok"


def test_an_empty_variable_blocks_nothing(site):
    site.install("toyone", GOOD)
    registry = Registry.from_environment({"CURATOR_PLUGINS": "", "CURATOR_DISABLE_PLUGINS": ""})
    assert status_by_name(registry)["toyone"] == "ok"


def test_an_entry_that_matches_nothing_is_reported_with_the_nearest_name(site):
    site.install("toyone", GOOD)
    registry = Registry.from_environment({"CURATOR_DISABLE_PLUGINS": "toyoen,unheard_of_xyz"})
    assert "CURATOR_DISABLE_PLUGINS names 'toyoen', which is not an installed plugin; did you mean 'toyone'?" in (
        registry.warnings
    )
    assert "CURATOR_DISABLE_PLUGINS names 'unheard_of_xyz', which is not an installed plugin" in registry.warnings


def test_core_cannot_be_blocked():
    registry = Registry(block=["core"], candidates=[])
    assert status_by_name(registry) == {"core": "ok"}
    assert registry.warnings == ["CURATOR_DISABLE_PLUGINS names 'core', which is built in and cannot be blocked"]
