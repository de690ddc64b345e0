"""What is kept about a failure, and the rows themselves."""

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import FileGroupTask, LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.authoring.recording import BadRecord, report
from curator_core.call.quarantine_payload import MAX_PAYLOAD_BYTES, decode_payload, encode_payload
from curator_core.call.quarantine_record import QuarantineRecord, record_for_task
from curator_core.run.quarantine.folder import QuarantineFolder, Resolution
from curator_core.values.errors import ConfigError, DataError


class Strict(ProcessingStage[TableBatch, TableBatch]):
    """Refuses rows in each of the three ways there are."""

    row_wise = True

    def process(self, task):
        numbers = task.data["n"].to_pylist()
        if 7 in numbers:
            raise ValueError("seven from https://me:hunter2@host")
        if 8 in numbers:
            source, row = task.row_source(numbers.index(8))
            report().bad_record(BadRecord("eight", source, row, "Eight"))
            return task.with_data(task.data.filter(pa.array([n != 8 for n in numbers])))
        return task


def table(*numbers):
    return TableBatch(
        data={"id": [f"doc-{n}" for n in numbers], "n": numbers, "_source": ["f.jsonl"] * len(numbers), "_row": numbers}
    )


def run(tmp_path, **options):
    tasks = [table(0, 1, 7, 2), table(8, 9)]
    return Pipeline("p", stages=[Strict()]).run(LocalExecutor(**options), initial_tasks=tasks, run_dir=tmp_path)


def test_a_record_says_everything(tmp_path):
    result = run(tmp_path)
    seven, eight = result.quarantined
    assert (seven.stage, seven.task_id, seven.where, seven.row_id, seven.rows) == (
        "Strict",
        "0",
        "f.jsonl:7",
        "doc-7",
        1,
    )
    assert (seven.worker, seven.node, seven.is_part) == ("local", "local", True)
    assert seven.time.startswith("20")
    assert seven.time.endswith("+00:00")
    assert (eight.error_type, eight.row, eight.traceback) == ("Eight", 8, None)
    for record in (seven, eight):
        kept = QuarantineFolder(tmp_path).load_payload(record, task_type=TableBatch)
        assert kept.data["n"].to_pylist() == [record.row]
        assert kept.task_id == record.retry_id == f"{record.task_id}/q{record.record_id}"
    assert QuarantineFolder(tmp_path).records() == {record.record_id: record for record in result.quarantined}
    assert "hunter2" not in (tmp_path / "quarantine" / "records.jsonl").read_text()


def test_the_same_run_makes_the_same_record_ids(tmp_path):
    first = [record.record_id for record in run(tmp_path / "a").quarantined]
    assert first == [record.record_id for record in run(tmp_path / "b").quarantined]
    assert len(set(first)) == 2


def test_a_new_run_begins_with_an_empty_quarantine(tmp_path):
    run(tmp_path)
    folder = QuarantineFolder(tmp_path)
    folder.resolve([Resolution("x", "now")])
    Pipeline("p", stages=[Strict()]).run(initial_tasks=[table(1)], run_dir=tmp_path)
    assert folder.records() == folder.resolutions() == {}
    assert not folder.payloads.exists()


def test_rows_are_left_out_where_they_must_not_be_kept(tmp_path):
    for record in run(tmp_path, quarantine_payload=False).quarantined:
        assert (record.payload, record.payload_file, record.row_id) == (None, None, None)
    assert not (tmp_path / "quarantine" / "payloads").exists()
    assert "doc-" not in (tmp_path / "quarantine" / "records.jsonl").read_text()


def test_rows_without_provenance_have_records_of_their_own(tmp_path):
    tasks = [TableBatch(data={"n": [7, 1, 7]})]
    result = Pipeline("p", stages=[Strict()]).run(initial_tasks=tasks, run_dir=tmp_path)
    assert len({record.record_id for record in result.quarantined}) == 2
    assert len(list((tmp_path / "quarantine" / "payloads").iterdir())) == 2


def test_refused_records_without_a_place_are_told_apart(tmp_path):
    class Reader(ProcessingStage):
        def process(self, task):
            for n in range(2):
                report().bad_record(BadRecord("first"))
                report().bad_record(BadRecord("second"))
                yield Task(data=n)

    result = Pipeline("p", stages=[Reader()]).run(initial_tasks=[Task()], run_dir=tmp_path)
    assert len({record.record_id for record in result.quarantined}) == 4


def through(task, task_type):
    return decode_payload(encode_payload(task, task_id="t/q1"), task_type=task_type, where="f")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(values | st.binary(), st.dictionaries(st.text(max_size=5), st.integers(), max_size=2))
def test_values_and_bytes_come_back(value, meta):
    task = through(Task(data=value, task_id="t", dataset_name="d", meta=meta), Task)
    assert (type(task), task.data, task.task_id, task.dataset_name, task.meta) == (Task, value, "t/q1", "d", meta)


def test_tables_come_back_with_their_types():
    data = pa.table(
        {
            "_source": pa.array(["f", "f"]).dictionary_encode(),
            "empty": pa.array([{}, {}], pa.struct([])),
            "deep": [[{"a": [1, None]}], []],
            "image": [b"\xff\x00", None],
            "nothing": pa.nulls(2),
        }
    )
    task = through(TableBatch(data=data.slice(1, 1), task_id="t"), TableBatch)
    assert task.data.equals(data.slice(1, 1))
    assert task.data.schema == data.schema


@pytest.mark.parametrize(
    "task",
    [
        Task(data=(1, 2)),
        Task(data={1: "a"}),
        Task(data=object()),
        Task(data=1, meta={"at": object()}),
        FileGroupTask(data=["a.jsonl"]),
        Task(data=b"x" * (MAX_PAYLOAD_BYTES + 1)),
        TableBatch(data={"image": [b"x" * (MAX_PAYLOAD_BYTES + 1)]}),
    ],
    ids=["tuple", "int keys", "object", "meta", "files", "large bytes", "large table"],
)
def test_what_would_not_come_back_the_same_is_not_kept(task):
    payload = encode_payload(task, task_id="t")
    # Bytes that compress well are small enough after all.
    assert payload is None or decode_payload(payload, task_type=Task, where="f").data == task.data


@given(st.binary(max_size=400), st.integers(0, 2_000))
def test_a_damaged_file_is_an_error_and_nothing_else(garbage, position):
    whole = encode_payload(Task(data="value"), task_id="t")
    for data in (garbage, whole[:position], whole[:position] + garbage + whole[position + len(garbage) :]):
        try:
            task = decode_payload(data, task_type=Task, where="f")
        except DataError:
            continue
        assert type(task) is Task


def test_a_disk_that_takes_no_payload_does_not_end_the_run(tmp_path, caplog):
    (tmp_path / "quarantine").mkdir()

    class Blocked(Strict):
        def setup(self, worker):
            (tmp_path / "quarantine" / "payloads").write_text("in the way")

    stages = [Blocked().with_(name="Strict")]
    result = Pipeline("p", stages=stages).run(initial_tasks=[table(0, 7)], run_dir=tmp_path)
    assert [record.payload_file for record in result.quarantined] == [None]
    assert "is not kept" in caplog.text
    assert result.rows_out == 1


def test_a_record_cannot_name_a_file_elsewhere(tmp_path):
    (tmp_path / "secret.arrow").write_bytes(encode_payload(Task(data="secret"), task_id="t"))
    record = record_for_task("s", Task(data=1, task_id="t"), ValueError(), attempts=1)
    outside = QuarantineRecord.from_dict(record.to_dict() | {"payload_file": "../../secret.arrow", "later": 1})
    with pytest.raises(DataError, match="cannot be read"):
        QuarantineFolder(tmp_path / "run").load_payload(outside, task_type=Task)


def test_a_torn_line_is_left_out_and_cut_before_the_next(tmp_path):
    run(tmp_path)
    folder = QuarantineFolder(tmp_path)
    file = folder.path / "records.jsonl"
    whole = file.read_text()
    file.write_text(whole + whole.splitlines()[0][:40])
    assert len(folder.records()) == 2
    folder.add([record_for_task("s", Task(task_id="t"), ValueError(), attempts=1)])
    assert len(folder.records()) == len(file.read_text().splitlines()) == 3
    file.write_text("torn\n" + whole)
    with pytest.raises(ConfigError, match=r"records\.jsonl:1: not a record"):
        folder.records()


def test_the_last_line_of_a_record_counts(tmp_path):
    folder = QuarantineFolder(tmp_path)
    record = record_for_task("s", Task(task_id="t"), ValueError(), attempts=3)
    folder.add([record])
    folder.add([QuarantineRecord.from_dict(record.to_dict() | {"attempts": 6})])
    assert [each.attempts for each in folder.records().values()] == [6]
    assert json.loads((folder.path / "records.jsonl").read_text().splitlines()[0])["attempts"] == 3
