import enum
from dataclasses import dataclass, field

import pytest

from curator_core import ProcessingStage, Resources, TableBatch, processing_stage
from curator_core.parameters.params import build_stage, check_options, parameter_values
from curator_core.parameters.signature import argument_texts, parameters_of, type_text
from curator_core.values.errors import ConfigError


def build(registry, name, params=None, options=None):
    return build_stage(registry.stage_target(name), name, params or {}, options or {})


def refuse(registry, name, params=None, options=None):
    with pytest.raises(ConfigError) as caught:
        build(registry, name, params, options)
    return str(caught.value).splitlines()


def test_values_become_what_the_constructor_wants(registry):
    stage = build(
        registry,
        "shapes.every",
        {
            "label": "x", "count": "7", "fraction": 1, "flag": True, "mode": "exact", "words": ("a", "b"),
            "pair": [3, 4], "langs": ["en", "no"], "weights": {"a": 1}, "maybe": None, "either": ["p", "q"],
            "folder": "some/where", "colour": "blue", "rules": [{"pattern": "^a"}],
            "rule": {"pattern": "b", "weight": 2}, "need": {"gpus": 0.5},
        },
    )  # fmt: skip
    assert (stage.count, stage.fraction, stage.pair, stage.langs) == (7, 1.0, (3, 4), {"en", "no"})
    assert stage.need == Resources(gpus=0.5)
    assert stage.rules[0].weight == 1.0
    assert stage.colour.name == "BLUE"
    assert stage.folder.parts == ("some", "where")


def test_finished_values_are_accepted_too(registry):
    assert build(registry, "shapes.every", {"label": "x", "need": Resources(cpus=2)}).need.cpus == 2


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, "shapes.every: parameter 'label' is required"),
        ({"label": 5}, "shapes.every.label: expected a valid string, got 5"),
        ({"label": "x", "lable": "y"}, "shapes.every.lable: unknown parameter, did you mean 'label'"),
        ({"label": "x", "share": 1}, "shapes.every.share: unknown parameter, did you mean 'fraction'"),
        ({"label": "x", "count": "many"}, "shapes.every.count: expected a valid integer, got 'many'"),
        ({"label": "x", "count": True}, "shapes.every.count: expected int, got true"),
        ({"label": "x", "count": None}, "shapes.every.count: expected a valid integer, got nothing"),
        ({"label": "x", "fraction": 2}, "shapes.every.fraction: expected at most 1, got 2"),
        ({"label": "x", "mode": "fsat"}, "mode: expected 'fast' or 'exact', got 'fsat', did you mean 'fast'?"),
        ({"label": "x", "words": ["a", 3]}, "shapes.every.words[1]: expected a valid string, got 3"),
        ({"label": "x", "words": "a"}, "shapes.every.words: expected a valid list, got 'a'"),
        ({"label": "x", "either": 5}, "shapes.every.either: expected a valid string or expected a valid list, got 5"),
        ({"label": "x", "either": ["a", 5]}, "shapes.every.either[1]: expected a valid string, got 5"),
        ({"label": "x", "rule": {"patern": "a"}}, "shapes.every.rule.patern: unknown key, did you mean 'pattern'?"),
        ({"label": "x", "rule": {"weight": 1}}, "shapes.every.rule.pattern: is missing"),
        ({"label": "x", "rules": [{"pattern": 1}]}, "shapes.every.rules[0].pattern: expected a valid string, got 1"),
        ({"label": "x", "need": {"gpus": 1.5}}, "shapes.every.need: Resources: gpus=1.5 is neither a fraction"),
        ({"label": "x", "need": 5}, "shapes.every.need: expected a mapping, got 5"),
        ({"label": "x", "colour": "green"}, "shapes.every.colour: expected 'red' or 'blue', got 'green'"),
    ],
)  # fmt: skip
def test_wrong_parameters_say_what_where_and_what_was_meant(registry, params, expected):
    lines = refuse(registry, "shapes.every", params)
    assert any(expected in line for line in lines), lines


def test_every_wrong_parameter_is_listed(registry):
    lines = refuse(registry, "shapes.every", {"count": "x", "flag": "maybe", "nope": 1}, {"batch_size": 0})
    assert len(lines) == 5
    assert any(line.startswith("shapes.every.with.batch_size: expected at least 1") for line in lines)


def test_constructor_that_raises_is_a_config_error(registry):
    assert refuse(registry, "shapes.moody", {"level": 4}) == [
        "shapes.moody: the constructor failed: ValueError: too moody"
    ]


def test_plain_class_and_function_stage(registry):
    assert build(registry, "shapes.plain", {"size": 4, "label": 9}).label == 9  # untyped parameters take anything
    same = registry.stage_target("shapes.same")
    assert build(registry, "shapes.same") is not same
    assert refuse(registry, "shapes.same", {"x": 1}) == ["shapes.same.x: unknown parameter; there are none"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"batch_size": 0}, "expected at least 1, got 0"),
        ({"batch_size": None}, "expected a valid integer, got nothing"),
        ({"workers": 0}, "expected at least 1"),
        ({"workers": 1.5}, "expected a valid integer"),
        ({"on_error": "ignore"}, "expected 'quarantine', 'raise' or 'skip', got 'ignore'"),
        ({"max_attempts": -1}, "expected at least 1"),
        ({"resources": {"gpus": -1}}, "gpus must be zero or more"),
        ({"resources": {"cpu": 1}}, "unknown key, did you mean 'cpus'"),
        ({"name": ""}, "expected"),
        ({"fuse": "perhaps"}, "expected a valid boolean"),
        ({"btach_size": 1}, "unknown option, did you mean 'batch_size'"),
        ({"count": 1}, "it is a parameter, not an option"),
        ({"min_workers": 3, "max_workers": 2}, "expected at most max_workers, which is 2, got 3"),
    ],
)
def test_wrong_options_are_refused(registry, options, expected):
    _, faults = check_options(registry.stage_class("shapes.every"), options)
    assert len(faults) == 1
    assert expected in str(faults[0].what).replace("String should have", "expected")


def test_good_options_are_applied(registry):
    options = {"name": "again", "batch_size": 8, "workers": None, "resources": {"gpus": 0.25}, "on_error": "skip"}
    stage = build(registry, "shapes.plain", {}, options)
    assert (stage.name, stage.batch_size, stage.on_error) == ("again", 8, "skip")
    assert stage.resources == Resources(gpus=0.25)
    assert set(stage.overrides) == set(options)
    assert build(registry, "shapes.tagged", {}, {"tag": True}).tag


def test_parameter_values_reads_attributes_back(registry):
    stage = build(registry, "shapes.plain", {"size": 4})
    assert parameter_values(stage) == {"size": 4, "label": "x"}
    assert parameter_values(stage, with_defaults=False) == {"size": 4}


def test_parameter_values_names_the_attribute_that_is_missing(registry):
    with pytest.raises(ConfigError, match="Forgetful has no attribute 'secret'"):
        parameter_values(build(registry, "shapes.forgetful"))


def test_signature_of_inherited_dataclass_fields_and_unresolvable_types(registry):
    parameters = parameters_of(registry.stage_class("shapes.tagged"))
    assert type_text(parameters["tag"].annotation) == "bool"
    assert parameters["save_dropped"].description.startswith("Write dropped rows")
    every = parameters_of(registry.stage_class("shapes.every"))
    assert type_text(every["unknowable"].annotation) == "any"
    assert every["label"].required
    assert every["label"].description == "Any text."
    assert every["words"].default == []
    assert parameters_of(registry.stage_class("shapes.plain"))["size"].description == "How large."


def test_constructor_that_takes_any_keyword():
    class Open(ProcessingStage[TableBatch, TableBatch]):
        def __init__(self, size: int, **rest):
            self.size, self.rest = size, rest

    stage = build_stage(Open, "open", {"size": "2", "other": 3})
    assert (stage.size, stage.rest) == (2, {"other": 3})


def test_stage_without_a_constructor():
    class Bare(ProcessingStage[TableBatch, TableBatch]):
        def process(self, task):
            return task

    assert isinstance(build_stage(Bare, "bare"), Bare)
    with pytest.raises(ConfigError, match="unknown parameter; there are none"):
        build_stage(Bare, "bare", {"x": 1})


def test_guide_style_dataclass_with_name_and_resources_as_fields():
    @dataclass
    class Guide(ProcessingStage[TableBatch, TableBatch]):
        name: str = "guide"
        resources: Resources = field(default_factory=lambda: Resources(cpus=2.0))
        batch_size: int = 4

        def process(self, task):
            return task

    stage = build_stage(Guide, "guide", {"resources": {"gpus": 1}, "batch_size": 2})
    assert (stage.resources.gpus, stage.batch_size) == (1, 2)


def test_docstring_sections_other_than_arguments_are_left_alone():
    text = """Do it.

    Note:
        depth: not an argument.

    Args:
        width (int): How wide: in metres.
        depth: How deep,
            really.

    Returns:
        height: not an argument either.
    """
    assert argument_texts(text) == {"width": "How wide: in metres.", "depth": "How deep, really."}
    assert argument_texts(None) == {}


def test_decorated_function_keeps_its_options():
    @processing_stage(name="f", batch_size=3)
    def function(task):
        return task

    assert build_stage(function, "f", {}, {"batch_size": 5}).batch_size == 5
    assert function.batch_size == 3


class Size(enum.Enum):
    SMALL = 1


def test_type_texts_read_well():
    assert type_text(dict[str, float]) == "dict[str, float]"
    assert type_text(tuple[int, ...]) == "tuple[int, …]"
    assert type_text(int | None) == "int | none"
    assert type_text(Size) == "Size"
