import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import Pipeline, Resources, make_stage, processing_stage
from curator_core.parameters.params import build_stage, parameter_values
from curator_core.pipelines.pipeline_file import load_pipeline
from curator_core.plan.dump import dump_pipeline
from curator_core.registry import default_registry
from curator_core.values.errors import ConfigError


def load(text, registry, **variables):
    return load_pipeline(text, variables, registry=registry)


def refuse(text, registry, **variables):
    with pytest.raises(ConfigError) as caught:
        load(text, registry, **variables)
    return str(caught.value)


def test_all_forms_of_a_stage_entry(registry):
    loaded = load(
        """
version: 1
name: forms
description: All of them.
stages:
  - shapes.plain
  - shapes.plain:
    with: {name: second}
  - shapes.plain: {size: "${SIZE}"}
    with:
      name: third
      batch_size: 4
  - shapes.every:
      label: block
executor: {name: local, threads: 3}
""",
        registry,
        SIZE=9,
    )
    stages = loaded.pipeline.stages
    assert [stage.name for stage in stages] == ["shapes.plain", "second", "third", "shapes.every"]
    assert (stages[2].size, stages[2].batch_size) == (9, 4)
    assert (loaded.pipeline.name, loaded.pipeline.description) == ("forms", "All of them.")
    assert (loaded.executor_name, loaded.executor_options) == ("local", {"threads": 3})


def test_file_gives_its_name_to_a_pipeline_without_one(tmp_path):
    path = tmp_path / "clean.yaml"
    path.write_text("\ufeffversion: 1\nstages: [{table.sample: {fraction: 1}}]\n", encoding="utf-8")
    loaded = load_pipeline(path)
    assert loaded.pipeline.name == "clean"
    assert loaded.path == path
    assert Pipeline.from_yaml(str(path)).stages[0].fraction == 1.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n- b\n", "expected a mapping with the keys version, name and stages"),
        ("\n", "expected a mapping"),
        ("version: 2\nstages: [shapes.plain]\n", "<text>:1: version: 2 is not a version that this curator reads"),
        ("version: true\nstages: [shapes.plain]\n", "is not a version"),
        ("version: 1\n\n", "the key 'stages' is missing"),
        ("version: 1\nstages: []\n", "<text>:2: stages: expected a list with at least one stage"),
        ("version: 1\nstages:\n", "expected a list with at least one stage"),
        ("version: 1\nname: [x]\nstages: [shapes.plain]\n", "<text>:2: name: expected text"),
        ("version: 1\nstages:\n- 5\n", "<text>:3: stages[0]: expected a stage name, or"),
        ("version: 1\nstages:\n- shapes.plain: [1]\n", "stages[0] shapes.plain: expected parameters as a mapping"),
        ("version: 1\nstages:\n- shapes.plain:\n  with: 4\n", "<text>:4: stages[0] with: expected options as"),
        ("version: 1\nstages:\n- shapes.plain:\n  size: 4\n", "indent parameters below the stage"),
        ("version: 1\nstages:\n- shapes.plain:\n  shapes.every:\n", "begin every stage with '- '"),
        ("version: 1\nstages:\n- with: {name: x}\n", "expected one stage name"),
        ("version: 1\nstages:\n- plain\n", "unknown stage 'plain'"),
        ("version: 1\nstages:\n- shapes.gone\n", "stages[0]: stage 'shapes.gone' cannot be loaded"),
        ("version: 1\nstages:\n- shapes.moon\n", "needs the package 'no_such_rocket'"),
        ("version: 1\nstages:\n- shapes.moody: {level: 9}\n", "stages[0] shapes.moody: the constructor failed"),
        ("version: 1\nstages: [shapes.plain]\nexecutor: {threads: 2}\n", "<text>:3: executor: expected a name"),
        ("version: 1\nstages: [shapes.plain]\nexecutor: {name: local, on_error: skp}\n", "did you mean 'skip'"),
        ("version: 1\nstages: [shapes.plain]\nexecuter: local\n", "<text>:3: executer: unknown key, did you mean"),
    ],
)  # fmt: skip
def test_wrong_files_say_where_and_what(text, expected, registry):
    assert expected in refuse(text, registry)


def test_problems_come_in_the_order_of_the_file_all_at_once(registry):
    error = refuse("vers: 1\nstages:\n- shapes.plain: {sise: 1}\n- shapes.every\n- ${GONE}\n", registry)
    lines = [int(line.split(":")[1]) for line in error.splitlines()]
    assert lines == sorted(lines)
    assert len(lines) == 5


def test_not_utf8_is_said_so(tmp_path):
    path = tmp_path / "p.yaml"
    path.write_bytes(b"version: 1\nname: \xff\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        load_pipeline(path)


def test_dump_leaves_defaults_out_and_writes_what_was_changed(registry):
    stages = [
        build_stage(registry.stage_target("shapes.every"), "shapes.every", {"label": "$5"}),
        build_stage(registry.stage_target("shapes.plain"), "shapes.plain").with_(resources=Resources(gpus=0.5)),
        build_stage(registry.stage_target("shapes.same"), "shapes.same"),
    ]
    text = dump_pipeline(Pipeline("p", "", stages), registry=registry)
    assert text == (
        "version: 1\nname: p\nstages:\n- shapes.every:\n    label: $$5\n"
        "- shapes.plain: {}\n  with:\n    resources:\n      gpus: 0.5\n- shapes.same\n"
    )


def test_option_set_as_an_attribute_is_kept_too(registry):
    stage = build_stage(registry.stage_target("shapes.plain"), "shapes.plain")
    stage.batch_size = 7
    again = load(dump_pipeline(Pipeline("p", stages=[stage]), registry=registry), registry)
    assert again.pipeline.stages[0].batch_size == 7


def test_unregistered_stage_cannot_be_dumped():
    @processing_stage(name="mine")
    def mine(task):
        return task

    with pytest.raises(ConfigError, match="registered by no plugin"):
        Pipeline("p", stages=[mine]).to_yaml()


def test_value_that_yaml_cannot_hold_is_named(registry):
    stage = build_stage(registry.stage_target("shapes.every"), "shapes.every", {"label": "x", "anything": object()})
    with pytest.raises(ConfigError, match=r"shapes\.every\.anything: a object cannot be written"):
        dump_pipeline(Pipeline("p", stages=[stage]), registry=registry)


def test_to_yaml_and_from_yaml_look_names_up_where_they_are_told(registry):
    pipeline = Pipeline("p", stages=[build_stage(registry.stage_target("shapes.plain"), "shapes.plain")])
    (again,) = Pipeline.from_yaml(pipeline.to_yaml(registry=registry), registry=registry).stages
    assert again.name == "shapes.plain"


def test_to_yaml_and_from_yaml_of_core_stages():
    pipeline = Pipeline("core", "With ${dollars}.", [make_stage("table.sample", fraction=0.25, seed=3)])
    again = Pipeline.from_yaml(pipeline.to_yaml())
    assert (again.name, again.description) == (pipeline.name, pipeline.description)
    assert parameter_values(again.stages[0]) == parameter_values(pipeline.stages[0])


text = st.text(max_size=20)
names = st.text(alphabet=string.ascii_letters + "_$ .äß字", min_size=1, max_size=12)
rules = st.fixed_dictionaries({"pattern": text}, optional={"weight": st.floats(allow_nan=False)})
every_params = st.fixed_dictionaries(
    {"label": text},
    optional={
        "count": st.integers(),
        "fraction": st.floats(0, 1),
        "flag": st.booleans(),
        "mode": st.sampled_from(["fast", "exact"]),
        "words": st.lists(text, max_size=3),
        "pair": st.tuples(st.integers(), st.integers()),
        "langs": st.sets(text, max_size=3),
        "weights": st.dictionaries(text, st.floats(allow_nan=False), max_size=3),
        "maybe": st.none() | st.integers(),
        "either": text | st.lists(text, max_size=3),
        "folder": names,
        "colour": st.sampled_from(["red", "blue"]),
        "rules": st.lists(rules, max_size=2),
        "rule": st.none() | rules,
        "need": st.builds(Resources, cpus=st.floats(0, 64), gpus=st.sampled_from([0.0, 0.25, 1.0, 4.0])),
        "anything": st.none() | st.booleans() | st.integers() | text | st.lists(text | st.none(), max_size=3),
    },
)
options = st.fixed_dictionaries(
    {},
    optional={
        "batch_size": st.integers(1, 1000),
        "workers": st.none() | st.integers(1, 9),
        "fuse": st.booleans(),
        "on_error": st.sampled_from(["quarantine", "raise", "skip"]),
        "resources": st.builds(
            Resources, cpus=st.floats(0, 64), custom=st.dictionaries(names, st.floats(0, 9), max_size=2)
        ),
    },
)


@given(name=names, description=text, params=every_params, changes=options, tagged=st.booleans())
def test_round_trip_through_yaml(registry, name, description, params, changes, tagged):
    stages = [
        build_stage(registry.stage_target("shapes.every"), "shapes.every", params, changes),
        build_stage(registry.stage_target("shapes.tagged"), "shapes.tagged", {"limit": 5}, {"tag": tagged}),
        build_stage(registry.stage_target("shapes.tagged"), "shapes.tagged", {"tag": tagged}, {"name": "third"}),
    ]
    pipeline = Pipeline(name, description, stages)
    written = dump_pipeline(pipeline, registry=registry)
    again = load_pipeline(written, registry=registry).pipeline
    assert (again.name, again.description) == (name, description)
    for before, after in zip(stages, again.stages, strict=True):
        assert type(after) is type(before)
        assert parameter_values(after) == parameter_values(before)
        assert {option: getattr(after, option) for option in after.options} == {
            option: getattr(before, option) for option in before.options
        }
    assert dump_pipeline(again, registry=registry) == written


def test_every_stage_of_tables_has_a_name_to_go_back_to():
    from curator_core.plan.dump import registry_name

    registry = default_registry()
    for name in [each for each in registry.stages if each.startswith("table.")]:
        cls = registry.stage_class(name)
        assert registry_name(cls.__new__(cls), registry) == name
