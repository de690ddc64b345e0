"""Two distributions that claim one plugin name: the owner of the name wins, and without an owner nobody does."""

import sys

import pytest

from curator_core.registry import Registry
from curator_core.registry.discovery import settle_collisions
from curator_core.registry.plugin_info import Candidate
from curator_core.values.errors import PluginError

STAGE = """
@hookimpl
def curator_stages():
    return [StageSpec("one", target="x:Y", summary="One.")]
"""


def test_the_distribution_named_after_the_plugin_wins(site):
    site.install("toydup", STAGE, distribution="curator-toydup")
    site.install("toydup", "raise AssertionError('must not be imported')", distribution="aaa-toydup")
    registry = Registry()

    found = {each.distribution: each for each in registry.plugins if each.name == "toydup"}

    assert found["curator-toydup"].status == "ok"
    assert found["aaa-toydup"].status == "shadowed"
    assert found["aaa-toydup"].cause == "the plugin name 'toydup' belongs to curator-toydup 1.2.3"
    assert registry.stages["toydup.one"].plugin.distribution == "curator-toydup"
    assert any("aaa-toydup" in line and "shadowed" in line for line in registry.warnings)


def test_without_an_owner_both_are_refused(site):
    site.install("toydup", STAGE, distribution="aaa-toydup")
    site.install("toydup", STAGE, distribution="bbb-toydup")
    registry = Registry()

    found = {each.distribution: each for each in registry.plugins if each.name == "toydup"}

    assert {each.status for each in found.values()} == {"shadowed"}
    assert "bbb-toydup 1.2.3 also claims" in found["aaa-toydup"].cause
    assert "aaa-toydup 1.2.3 also claims" in found["bbb-toydup"].cause
    assert "toydup.one" not in registry.stages
    with pytest.raises(PluginError, match=r"shadowed: .*also claims"):
        registry.stage_class("toydup.one")


def test_nobody_can_take_the_name_of_core(site):
    site.install("core", "raise AssertionError('must not be imported')", distribution="evil-core")
    found = {each.distribution: each for each in Registry().plugins if each.name == "core"}
    assert found["curator-core"].status == "ok"
    assert found["evil-core"].status == "shadowed"


def test_core_installed_with_an_entry_point_is_still_one_plugin(site):
    site.write_metadata("curator-core", entry_points="[curator.plugins]\ncore = curator_core.plugin\n")
    assert [each.status for each in Registry().plugins if each.name == "core"] == ["ok"]


def test_of_a_distribution_that_is_on_the_path_twice_the_first_counts(site, tmp_path, monkeypatch):
    site.install("toydup", STAGE)
    older = type(site)(tmp_path / "older")
    older.folder.mkdir()
    monkeypatch.setattr("sys.path", [*sys.path, str(older.folder)])
    older.write_metadata("curator-toydup", entry_points="[curator.plugins]\ntoydup = toy_older\n", version="0.9")
    found = [each for each in Registry().plugins if each.name == "toydup"]
    assert [(each.status, each.version) for each in found] == [("ok", "1.2.3")]


def test_one_distribution_that_declares_a_name_twice_does_not_get_it():
    twins = [Candidate("a", "a.plugin", "curator-a", "1"), Candidate("a", "a.other", "curator-a", "1")]
    assert set(settle_collisions(twins)) == set(twins)


def test_names_of_distributions_are_compared_as_package_indexes_do():
    winner = Candidate("web_text", "a.plugin", "Curator_Web.Text", "1")
    loser = Candidate("web_text", "b.plugin", "web-text", "1")
    assert set(settle_collisions([loser, winner])) == {loser}
