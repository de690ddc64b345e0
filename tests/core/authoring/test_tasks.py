"""Tasks: what they accept, what they say about themselves, and that copies share nothing by accident."""

import pickle

import polars as pl
import pyarrow as pa
import pytest

from curator_core import EmptyTask, FileGroupTask, TableBatch, Task
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN, FileSlice
from curator_core.values.errors import StageError, UnknownNameError
from curator_core.values.redaction import hide


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"text": ["a", "b"]}),
        pa.record_batch({"text": ["a", "b"]}),
        pl.DataFrame({"text": ["a", "b"]}),
        {"text": ["a", "b"]},
        [{"text": "a"}, {"text": "b"}],
    ],
    ids=["table", "record batch", "polars", "dict", "rows"],
)
def test_a_table_batch_accepts_what_people_have(data):
    batch = TableBatch(data=data)
    assert batch.num_rows == batch.num_items == 2
    assert batch.columns == ["text"]
    assert batch.frame["text"].to_list() == ["a", "b"]


def test_a_table_batch_refuses_what_is_not_a_table():
    with pytest.raises(StageError, match=r"cannot hold int[\s\S]*Arrow table"):
        TableBatch(data=3)


def test_with_column_adds_or_replaces_in_place_and_leaves_the_original_alone():
    batch = TableBatch(data={"a": [1], "b": [2]}, task_id="x", meta={"k": 1})
    changed = batch.with_column("a", pl.Series([9])).with_column("c", [3])
    assert changed.data.to_pylist() == [{"a": 9, "b": 2, "c": 3}]
    assert batch.data.to_pylist() == [{"a": 1, "b": 2}]
    assert (changed.task_id, changed.meta) == ("x", {"k": 1})


def test_text_names_the_column_that_is_missing_or_of_the_wrong_type():
    batch = TableBatch(data={"text": ["a"], "size": [1]})
    with pytest.raises(UnknownNameError, match=r"'txet'; did you mean 'text'"):
        batch.text("txet")
    with pytest.raises(StageError, match=r"'size' holds int64"):
        batch.text("size")


def test_a_column_of_nothing_but_nulls_is_text_without_values():
    assert TableBatch(data={"text": pa.nulls(2)}).text("text").to_list() == [None, None]


def test_a_dictionary_encoded_column_is_text():
    column = pa.array(["a", "b", "a"]).dictionary_encode()
    assert TableBatch(data={"text": column}).text("text").to_list() == ["a", "b", "a"]


def test_row_source_reads_provenance():
    batch = TableBatch(data={SOURCE_COLUMN: ["f.jsonl", "f.jsonl"], ROW_COLUMN: [0, 17]})
    assert batch.row_source(1) == ("f.jsonl", 17)
    assert TableBatch(data={"text": []}).source == (None, None)


def test_file_groups_are_identified_by_what_they_are():
    one = FileGroupTask(data=[FileSlice("a", 0, 10, version="1")])
    assert one.fingerprint() == FileGroupTask(data=[FileSlice("a", 0, 10, version="1")]).fingerprint()
    for other in (FileSlice("b", 0, 10, version="1"), FileSlice("a", 1, 10, version="1"), FileSlice("a", 0, 10)):
        assert FileGroupTask(data=[other]).fingerprint() != one.fingerprint()


def test_a_file_group_refuses_a_single_path():
    for make in (lambda path: FileGroupTask(data=path), FileGroupTask(data=["a.jsonl"]).with_data):
        with pytest.raises(StageError, match=r"'b\.jsonl'[\s\S]*\['b\.jsonl'\]"):
            make("b.jsonl")


def test_the_identity_of_a_file_does_not_depend_on_what_this_process_hides():
    task = FileGroupTask(data=["https://host/tok-5f3c9a/a.jsonl?sig=3f2a"])
    before = task.fingerprint()
    assert FileGroupTask(data=["https://host/tok-5f3c9a/a.jsonl?sig=9c0d"]).fingerprint() == before, "signed anew"
    hide("tok-5f3c9a", is_credential=True)
    assert task.fingerprint() == before


@pytest.mark.parametrize(
    "task", [Task(data={"any": "value"}), EmptyTask(), FileGroupTask(data=["a"]), TableBatch(data={"a": [1]})]
)
def test_tasks_survive_pickling(task):
    assert pickle.loads(pickle.dumps(task)) == task
