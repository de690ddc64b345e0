import jsonschema
import pytest
import yaml

from curator_core.config.schema import DIALECT, pipeline_schema
from curator_core.registry import default_registry


@pytest.fixture(scope="module")
def validator(registry):
    schema = pipeline_schema(registry)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


GOOD = [
    "{version: 1, stages: [shapes.plain]}",
    "{version: 1, name: x, description: y, stages: [shapes.plain, {shapes.plain: null}, {shapes.plain: {size: 4}}]}",
    "{version: 1, stages: [{shapes.every: {label: x, count: '${N}', pair: [1, 2], rule: {pattern: a}}}]}",
    "{version: 1, stages: [{shapes.plain: {}, with: {batch_size: 4, resources: {gpus: 0.5}, on_error: skip}}]}",
    "{version: 1, stages: [{shapes.every: {label: x, need: {gpus: 1}}}]}",
    "{version: 1, stages: [shapes.same], executor: local}",
    "{version: 1, stages: [shapes.same], executor: {name: local, threads: 4, on_error: raise}}",
]
BAD = [
    "{stages: [shapes.plain]}",
    "{version: 2, stages: [shapes.plain]}",
    "{version: 1}",
    "{version: 1, stages: []}",
    "{version: 1, stages: [shapes.plian]}",
    "{version: 1, stages: [shapes.every]}",
    "{version: 1, stages: [{shapes.plain: {sise: 4}}]}",
    "{version: 1, stages: [{shapes.plain: {size: many}}]}",
    "{version: 1, stages: [{shapes.every: {label: x, mode: slow}}]}",
    "{version: 1, stages: [{shapes.every: {label: x, rule: {patern: a}}}]}",
    "{version: 1, stages: [{shapes.plain: {}, with: {batch_size: 0}}]}",
    "{version: 1, stages: [{shapes.plain: {}, with: {btach_size: 1}}]}",
    "{version: 1, stages: [shapes.plain], executor: {name: local, thread: 4}}",
    "{version: 1, stages: [shapes.plain], executer: local}",
]


@pytest.mark.parametrize("text", GOOD)
def test_good_files_pass_schema_and_loader(text, validator, registry, monkeypatch):
    from curator_core.pipelines.pipeline_file import load_pipeline

    monkeypatch.setenv("N", "3")
    validator.validate(yaml.safe_load(text))
    load_pipeline(f"{text}\n", registry=registry)


@pytest.mark.parametrize("text", BAD)
def test_bad_files_fail_schema_and_loader(text, validator, registry):
    from curator_core.pipelines.pipeline_file import load_pipeline
    from curator_core.values.errors import ConfigError

    assert not validator.is_valid(yaml.safe_load(text))
    with pytest.raises(ConfigError):
        load_pipeline(f"{text}\n", registry=registry)


def test_schema_carries_descriptions_defaults_and_what_was_left_out(registry):
    schema = pipeline_schema(registry)
    assert schema["$schema"] == DIALECT
    entry = schema["properties"]["stages"]["items"]["anyOf"][1]["properties"]
    count = entry["shapes.every"]["properties"]["count"]
    assert count["description"] == "How many."
    assert count["default"] == 1
    assert entry["shapes.every"]["required"] == ["label"]
    assert "shapes.gone" not in entry
    assert "shapes.gone: " in schema["$comment"]
    assert "shapes.moon: " in schema["$comment"]


def test_an_alias_takes_what_the_stage_takes_and_is_marked():
    schema = pipeline_schema(default_registry())
    entry = schema["properties"]["stages"]["items"]["anyOf"][1]["properties"]
    assert entry["core.where"]["properties"] == entry["table.where"]["properties"]
    assert entry["core.where"]["deprecated"]
    assert "deprecated" not in entry["table.where"]
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"version": 1, "stages": [{"core.where": {"expression": "n > 1"}}]})
    assert not validator.is_valid({"version": 1, "stages": [{"core.where": {}}]})
