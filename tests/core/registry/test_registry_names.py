"""From a name to a stage: what is found, and what every failure says."""

import importlib

import pytest

from curator_core import Filter, ProcessingStage, TableBatch, make_stage
from curator_core.registry import Registry
from curator_core.specs import ExecutorSpec
from curator_core.values.errors import ConfigError, MissingPackageError, PluginError, UnknownNameError

DECLARES = """
@hookimpl
def curator_stages():
    return [
        StageSpec("upper", target="toy_stages:Upper", summary="Upper-case.", produces=("shout", "text")),
        StageSpec("double", target="toy_stages:double", summary="A function."),
        StageSpec(
            "model", target="toy_stages:Upper", requires=("json", "no_such_pkg"), extra="models", produces=("shout",)
        ),
        StageSpec("bare", target="toy_stages:Upper", requires=("no_such_pkg",)),
        StageSpec("gone", target="toy_stages:Gone"),
        StageSpec("nowhere", target="toy_nowhere:Gone"),
        StageSpec("number", target="toy_stages:NUMBER"),
        StageSpec("abstract", target="toy_stages:Abstract"),
        StageSpec("nested", target="toy_stages:Holder.Inner"),
    ]

@hookimpl
def curator_executors():
    return [ExecutorSpec("fast", target="toy_stages:NUMBER")]

@hookimpl
def curator_task_types():
    return [TaskTypeSpec("ToyBatch", target="toy_stages:NUMBER")]

@hookimpl
def curator_workflows():
    return [WorkflowSpec("flow", target="toy_stages:NUMBER")]

@hookimpl
def curator_commands():
    return [CommandSpec("toy-command", target="toy_stages")]
"""

STAGES = """
from dataclasses import dataclass
from curator_core import Filter, ProcessingStage, TableBatch, processing_stage

@dataclass
class Upper(ProcessingStage[TableBatch, TableBatch]):
    times: int = 1
    name = "toy.upper"
    def process(self, task):
        return task

class Holder:
    class Inner(Upper):
        pass

class Abstract(Filter):
    pass

@processing_stage(name="toy.double")
def double(task):
    return task

NUMBER = 3
"""


@pytest.fixture
def registry(site):
    site.write_module("toy_stages", STAGES)
    site.install("toy", DECLARES)
    return Registry(allow=["toy"])


def test_listing_does_not_import_what_the_specs_name(registry):
    import sys

    stage = registry.stages["toy.upper"]
    assert (stage.full_name, stage.spec.summary, stage.plugin.name) == ("toy.upper", "Upper-case.", "toy")
    assert stage.available
    assert "toy_stages" not in sys.modules


def test_a_plugin_tells_its_distribution_version_and_api(registry):
    info = next(each for each in registry.plugins if each.name == "toy")
    assert (info.distribution, info.version, info.api) == ("curator-toy", "1.2.3", (1, 0))


def test_a_name_leads_to_its_class(registry):
    cls = registry.stage_class("toy.upper")
    assert issubclass(cls, ProcessingStage)
    assert registry.make_stage("toy.upper", {"times": "3"}).times == 3
    assert registry.stage_class("toy.nested").__qualname__ == "Holder.Inner"


def test_a_stage_made_of_a_function_is_copied(registry):
    one, other = registry.make_stage("toy.double", {}), registry.make_stage("toy.double", {})
    assert one is not other
    assert one.name == "toy.double"
    with pytest.raises(ConfigError, match="unknown parameter; there are none"):
        registry.make_stage("toy.double", {"times": 2})


def test_wrong_parameters_are_named(registry):
    with pytest.raises(ConfigError, match=r"toy.upper.*tmies.*times"):
        registry.make_stage("toy.upper", {"tmies": 3})


def test_an_unknown_stage_is_met_with_the_nearest_name(registry):
    with pytest.raises(UnknownNameError, match=r"unknown stage 'toy\.uper'; did you mean 'toy\.upper'") as caught:
        registry.stage_class("toy.uper")
    assert "toy.double" in caught.value.fix


def test_a_stage_without_its_plugin_is_met_with_the_full_name(registry):
    with pytest.raises(UnknownNameError, match=r"did you mean 'toy\.upper'"):
        registry.stage_class("upper")


def test_a_known_plugin_that_is_missing_is_met_with_its_pip_line():
    with pytest.raises(PluginError, match="plugin 'image', which is not installed") as caught:
        Registry(candidates=[]).stage_class("image.blur")
    assert caught.value.fix == "pip install curator-image"


def test_an_unheard_of_plugin_is_named():
    with pytest.raises(UnknownNameError) as caught:
        Registry(candidates=[]).stage_class("acme.vacuum")
    assert caught.value.fix == "install the distribution that provides the plugin 'acme'"


def test_a_stage_of_a_broken_plugin_fails_with_its_cause(site):
    site.install("toybad", "raise RuntimeError('no driver')")
    with pytest.raises(
        PluginError, match=r"'toybad\.x' needs the plugin 'toybad', which is broken: .*no driver"
    ) as caught:
        Registry().stage_class("toybad.x")
    assert "curator-toybad 1.2.3" in caught.value.fix
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_missing_package_is_met_with_the_exact_pip_line(registry):
    assert registry.stages["toy.model"].missing == ("no_such_pkg",)
    assert not registry.stages["toy.model"].available
    with pytest.raises(MissingPackageError, match=r"stage 'toy\.model' needs the package 'no_such_pkg'") as caught:
        registry.stage_class("toy.model")
    assert caught.value.fix == 'pip install "curator-toy[models]"'
    with pytest.raises(MissingPackageError) as caught:
        registry.stage_class("toy.bare")
    assert caught.value.fix == "pip install no_such_pkg"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("toy.gone", "cannot be loaded from toy_stages:Gone: AttributeError"),
        ("toy.nowhere", "cannot be loaded from toy_nowhere:Gone: ModuleNotFoundError"),
        ("toy.number", "toy_stages:NUMBER is not a ProcessingStage"),
        ("toy.abstract", "toy_stages:Abstract does not define judge"),
    ],
)
def test_a_target_that_is_no_stage_is_an_error_of_the_plugin(registry, name, message):
    with pytest.raises(PluginError, match=message) as caught:
        registry.stage_class(name)
    assert "curator-toy 1.2.3" in caught.value.fix


def test_everything_else_is_listed_alike(registry):
    assert "toy.fast" in registry.executors
    assert "core.local" in registry.executors
    assert "toy.ToyBatch" in registry.task_types
    assert list(registry.workflows) == ["toy.flow"]
    assert registry.commands["toy.toy-command"].load().NUMBER == 3
    assert registry.find(ExecutorSpec, "local").full_name == "core.local"
    assert registry.find(ExecutorSpec, "toy.fast").load() == 3
    with pytest.raises(UnknownNameError, match=r"unknown executor 'lokal'; did you mean 'local'"):
        registry.find(ExecutorSpec, "lokal")


def test_producers_of_a_column_are_named_and_installed_ones_come_first(registry):
    assert registry.producers_of("shout") == ["toy.upper", "toy.model"]
    assert registry.producers_of("text") == ["toy.upper"]
    assert registry.producers_of("nothing") == []


def test_make_stage_uses_the_registry_of_this_process():
    stage = make_stage("table.where", expression="n > 1")
    assert isinstance(stage, Filter)
    assert stage.process(TableBatch(data={"n": [1, 2]})).data["n"].to_pylist() == [2]


def test_a_module_makes_a_registry_whether_it_is_installed_or_not(site):
    installed = site.install("toy", DECLARES)
    site.write_module("curator_alone", "CURATOR_API = (1, 0)")
    modules = importlib.import_module(installed), importlib.import_module("curator_alone")
    for module, name, distribution in zip(modules, ("toy", "alone"), ("curator-toy", None), strict=True):
        core, plugin = Registry.of_module(module).plugins
        assert (core.name, plugin.name, plugin.distribution, plugin.status) == ("core", name, distribution, "ok")
    assert [each.name for each in Registry.of_module(importlib.import_module("curator_core.plugin")).plugins] == [
        "core"
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("WebPages", "'WebPages' is not snake_case"),
        ("class", "'class' is a word of Python"),
        ("core", "'core' is taken by curator-core"),
        ("image", "'image' is taken by curator-image"),
        ("toy", r"'toy' is taken by curator-toy 1\.2\.3"),
    ],
)
def test_a_name_that_a_new_plugin_cannot_have_is_refused(registry, name, message):
    registry.check_new_plugin_name("web_pages")
    with pytest.raises(ConfigError, match=message):
        registry.check_new_plugin_name(name)
