import pytest

from curator_core import EmptyTask, LocalExecutor, Pipeline, ProcessingStage, TableBatch
from curator_core.values.errors import ConfigError, PipelineError, StageError, UnknownNameError
from curator_table.stages.select import SelectColumns

BATCH = {"a": [1], "b": [2], "c": [3], "_source": ["f"], "_row": [0]}


def columns(stage):
    return stage.process(TableBatch(data=BATCH)).columns


def test_keep_selects_in_the_given_order_and_provenance_stays():
    assert columns(SelectColumns(keep=["c", "a"])) == ["c", "a", "_source", "_row"]


def test_drop_leaves_columns_out_where_they_exist():
    assert columns(SelectColumns(drop=["b", "not_there"])) == ["a", "c", "_source", "_row"]


def test_rename_keeps_the_place_and_the_data():
    out = SelectColumns(rename={"b": "text"}).process(TableBatch(data=BATCH))
    assert out.columns == ["a", "text", "c", "_source", "_row"]
    assert out.data["text"].to_pylist() == [2]


def test_names_can_be_swapped():
    out = SelectColumns(rename={"a": "b", "b": "a"}).process(TableBatch(data=BATCH))
    assert (out.data["a"].to_pylist(), out.data["b"].to_pylist()) == ([2], [1])


def test_keep_and_rename_together():
    assert columns(SelectColumns(keep=["a", "b"], rename={"b": "text"})) == ["a", "text", "_source", "_row"]


@pytest.mark.parametrize(
    "stage",
    [
        SelectColumns(keep=["c", "a"]),
        SelectColumns(drop=["b"]),
        SelectColumns(rename={"a": "z"}),
        SelectColumns(keep=["a"], rename={"a": "z"}),
        SelectColumns(drop=["b"], rename={"a": "b"}),
    ],
    ids=str,
)
def test_the_columns_known_at_build_time_are_those_that_come_out(stage):
    assert stage.columns_after(frozenset(BATCH)) == frozenset(columns(stage))


def test_a_missing_column_is_named():
    with pytest.raises(UnknownNameError, match="column 'x'"):
        columns(SelectColumns(keep=["x"]))


def test_a_new_name_that_is_taken_is_an_error_with_the_fix():
    with pytest.raises(StageError, match="'b' is taken") as caught:
        columns(SelectColumns(rename={"a": "b"}))
    assert caught.value.fix == "drop 'b' as well"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "nothing to do"),
        ({"keep": ["a"], "drop": ["b"]}, "exclude each other"),
        ({"drop": ["_source"]}, "always stays"),
        ({"rename": {"_row": "row"}}, "always stays"),
        ({"rename": {"row": "_row"}}, "always stays"),
        ({"keep": ["a"], "rename": {"b": "c"}}, "renamed, but not kept"),
        ({"drop": ["a"], "rename": {"a": "c"}}, "renamed, but not kept"),
        ({"rename": {"a": "c", "b": "c"}}, "the same name"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_at_once(params, message):
    with pytest.raises(ConfigError, match=message):
        SelectColumns(**params)


class Source(ProcessingStage[EmptyTask, TableBatch]):
    def preflight(self):
        return list(BATCH)

    def process(self, task):
        return TableBatch(data=BATCH)


def test_a_column_that_was_dropped_is_missed_when_the_pipeline_is_built():
    second = SelectColumns(keep=["b"]).with_(name="second")
    with pytest.raises(PipelineError, match="stage 'second' reads column 'b'"):
        Pipeline("p", stages=[Source(), SelectColumns(drop=["b"]), second]).build()
    renamed = Pipeline(
        "p", stages=[Source(), SelectColumns(rename={"a": "z"}), SelectColumns(keep=["z"]).with_(name="n")]
    )
    (output,) = renamed.run(LocalExecutor())
    assert output.columns == ["z", "_source", "_row"]
