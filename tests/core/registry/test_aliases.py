"""Other names of stages: good wherever a stage is named, and nowhere written down."""

import pytest

from curator_core import Pipeline, make_stage
from curator_core.registry import Registry
from curator_core.registry.catalogue import ONCE_IN_CORE
from curator_core.values.errors import PluginError, UnknownNameError

STAGES = """
from dataclasses import dataclass
from curator_core import ProcessingStage, TableBatch

@dataclass
class Upper(ProcessingStage[TableBatch, TableBatch]):
    name = "toy.upper"
    def process(self, task):
        return task
"""
DECLARES = """
@hookimpl
def curator_stages():
    return [
        StageSpec("upper", target="toy_alias_stages:Upper", summary="Upper-case.", produces=("shout",)),
        StageSpec("shout", alias_of="toy.upper"),
        StageSpec("read", alias_of="elsewhere.read"),
        StageSpec("lost", alias_of="toy.gone"),
    ]
"""


@pytest.fixture
def registry(site):
    site.write_module("toy_alias_stages", STAGES)
    site.install("toy", DECLARES)
    return Registry()


def test_an_alias_makes_the_stage_that_it_stands_for(registry):
    assert registry.make_stage("toy.shout", {}).name == "toy.upper"
    assert registry.stage_class("toy.shout") is registry.stage_class("toy.upper")


def test_aliases_are_in_no_list(registry):
    assert "toy.shout" not in registry.stages
    assert registry.producers_of("shout") == ["toy.upper"]
    assert registry.aliases["toy.shout"] == "toy.upper"
    assert registry.aliases.items() >= ONCE_IN_CORE.items()


def test_a_part_of_a_stage_has_the_name_of_the_stage_it_is_of(registry):
    assert registry.canonical_name("toy.shout.files") == "toy.upper.files"
    assert [registry.canonical_name(name) for name in ("toy.upper", "shout", "core.where_2")] == [
        "toy.upper",
        "shout",
        "core.where_2",
    ]


def test_an_alias_of_nothing_says_what_it_is_of(registry):
    with pytest.raises(UnknownNameError, match=r"unknown stage 'toy\.gone'"):
        registry.make_stage("toy.lost", {})
    with pytest.raises(UnknownNameError, match=r"did you mean 'toy\.shout'"):
        registry.make_stage("toy.shuot", {})


def test_an_alias_of_a_plugin_that_is_not_installed_says_how_to_install_it():
    renamed = r"'core\.where' is called 'table\.where' now, and needs the plugin 'table', which is "
    with pytest.raises(PluginError, match=renamed + "not installed") as failed:
        Registry(candidates=[]).make_stage("core.where", {"expression": "n > 1"})
    assert failed.value.fix == "pip install curator-table"
    with pytest.raises(PluginError, match=renamed + "blocked"):
        Registry(block=["table"]).make_stage("core.where", {"expression": "n > 1"})


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ('StageSpec("a", alias_of="where")', "is not the full name of a stage"),
        ('StageSpec("a", alias_of=3)', "is not the full name of a stage"),
        ('StageSpec("a", target="m:A", alias_of="table.where")', "an alias has no target of its own"),
        ('StageSpec("a")', "does not have the form"),
    ],
)
def test_a_wrong_alias_breaks_its_plugin_and_says_why(site, spec, problem):
    site.install("toy", f"@hookimpl\ndef curator_stages():\n    return [{spec}]\n")
    (toy,) = [each for each in Registry().plugins if each.name == "toy"]
    assert toy.status == "broken"
    assert problem in toy.cause


@pytest.mark.parametrize(
    ("alias", "params"),
    [
        ("core.sample", {"fraction": 0.5}),
        ("core.select_columns", {"keep": ["a"]}),
        ("core.where", {"expression": "n > 1"}),
    ],
)
def test_the_names_that_stages_had_in_core_stay_good(alias, params):
    assert make_stage(alias, **params).name == ONCE_IN_CORE[alias]


def test_plans_and_pipeline_files_have_the_name_that_an_alias_stands_for():
    pipeline = Pipeline.from_yaml("version: 1\nstages: [{core.sample: {fraction: 0.5}}]\n")
    assert [stage.name for stage in pipeline.stages] == ["table.sample"]
    assert "core.sample" not in pipeline.to_yaml()
    assert "table.sample" in pipeline.to_yaml()
