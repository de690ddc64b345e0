"""What a run writes can be read as one table, and every value is the one that was read, or is reported."""

import json
import logging
import math

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.authoring.stage import ProcessingStage
from curator_core.authoring.tasks import TableBatch
from curator_core.values.errors import PipelineError, ResumeError
from curator_table.stages.blend import BlendSource
from curator_text import Blend, ReadCsv, ReadHf, ReadJsonl, ReadParquet, WriteJsonl, WriteParquet


def lines(path, *rows):
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def run(reader, writer, **options):
    return Pipeline(stages=[reader, writer]).run(LocalExecutor(), **options)


def rows_of(folder):
    """Read the Parquet files of a folder as one table, as users do."""
    table = pq.read_table(folder)
    assert pl.read_parquet(f"{folder}/*.parquet").height == table.num_rows
    return table


def json_rows(folder):
    return [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]


def without_nulls(value):
    return {key: each for key, each in value.items() if each is not None} if isinstance(value, dict) else value


def problems(result):
    return [(record.error_type, record.message) for record in result.quarantined]


def test_a_key_that_a_line_did_not_have_is_not_in_the_line_written(tmp_path):
    rows = [
        {"text": "a", "x": 1},
        {"text": "b"},
        {"text": "c", "deep": {"y": [{"z": 1}, {}, None]}},
        {"text": "d", "deep": {}},
    ]
    source = lines(tmp_path / "in.jsonl", *rows, {"text": "e", "x": None})
    run(ReadJsonl(source), WriteJsonl(str(tmp_path / "out")))
    assert json_rows(tmp_path / "out") == [*rows, {"text": "e"}]
    run(ReadJsonl(source, columns=["text", "x"]), WriteJsonl(str(tmp_path / "full"), write_nulls=True))
    assert json_rows(tmp_path / "full")[-2:] == [{"text": "d", "x": None}, {"text": "e", "x": None}]


def test_rare_keys_take_as_much_room_as_they_have_values(tmp_path):
    rows = [{"text": f"document {n}", f"key{n % 600}": n} for n in range(1_200)]
    source = lines(tmp_path / "in.jsonl", *rows)
    assert not run(ReadJsonl(source), WriteJsonl(str(tmp_path / "out"))).quarantined
    assert sorted(json_rows(tmp_path / "out"), key=lambda row: row["text"]) == sorted(rows, key=lambda row: row["text"])
    written = sum(path.stat().st_size for path in (tmp_path / "out").iterdir())
    assert written < (tmp_path / "in.jsonl").stat().st_size
    capped = run(ReadJsonl(source, max_columns=500), WriteJsonl(str(tmp_path / "capped")))
    assert {record.error_type for record in capped.quarantined} == {"TooManyColumns"}
    assert len(json_rows(tmp_path / "capped")) + sum(record.rows for record in capped.quarantined) == len(rows)


FILES = {
    "a number of 64 bits in one file": ([{"a": 1}], [{"a": 2**64 - 1}], pa.uint64()),
    "floats in one file": ([{"a": 1}], [{"a": 0.5}], pa.float64()),
    "null in one file": ([{"a": None}], [{"a": "x"}], pa.string()),
    "missing in one file": ([{}], [{"a": [1, None]}], pa.list_(pa.field("element", pa.int64()))),
    "other fields in one file": ([{"a": {"x": 1}}], [{"a": {"y": 2}}], pa.struct({"x": pa.int64(), "y": pa.int64()})),
    "no field in one file": ([{"a": {}}], [{"a": {"x": 1}}], pa.struct({"x": pa.int64()})),
    "dates in one file": ([{"a": "2024-01-01"}], [{"a": "soon"}], pa.string()),
    "never a field": ([{"a": {}}], [{"a": {}}], pa.json_(pa.string())),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second", "kind"), FILES.values(), ids=FILES)
def test_files_of_one_run_have_one_type_for_a_column(tmp_path, first, second, kind):
    for number, rows in enumerate((first, second)):
        lines(tmp_path / "in" / f"{number}.jsonl", *({"text": "t", **row} for row in rows))
    for block_bytes in (1, 2**20):
        result = run(ReadJsonl(str(tmp_path / "in"), block_bytes=block_bytes), WriteParquet(str(tmp_path / "out")))
        assert not result.quarantined
        table = rows_of(tmp_path / "out")
        assert table.schema.field("a").type == kind
        out = tmp_path / f"again{block_bytes}"
        run(ReadParquet(str(tmp_path / "out"), columns=["text", "a"]), WriteJsonl(str(out)))
        key = lambda row: json.dumps(row, sort_keys=True)  # noqa: E731
        expected = [
            {name: value for name, value in {"text": "t", **row}.items() if value is not None} for row in first + second
        ]
        assert sorted(json_rows(out), key=key) == sorted(expected, key=key)
        for path in (tmp_path / "out").iterdir():
            path.unlink()


ODD = {
    "an integer of 70 bits": ('{"a": 1}', '{"a": 1180591620717411303424}', "an integer that it does not hold"),
    "an integer below 64 bits": ('{"a": 1}', '{"a": -9223372036854775809}', "an integer that it does not hold"),
    "an integer among floats": ('{"a": 0.5}', '{"a": 9007199254740993}', "an integer that no float holds exactly"),
    "an integer of 70 bits among floats": ('{"a": 0.5}', '{"a": 1180591620717411303424}', "an integer that no float"),
    "not a number": ('{"a": 0.5}', '{"a": NaN}', "not valid JSON"),
    "infinity": ('{"a": 0.5}', '{"a": 1e400}', "not valid JSON"),
    "a number in text": ('{"a": "x"}', '{"a": 1}', "column 'a' is string in this run, and here it is an integer"),
    "text among numbers": ('{"a": 1}', '{"a": "1"}', "column 'a' is int64 in this run, and here it is a string"),
    "a boolean among numbers": ('{"a": 1}', '{"a": true}', "a boolean"),
    "a list among numbers": ('{"a": 1}', '{"a": [1]}', "an array"),
    "a number among lists": ('{"a": [1]}', '{"a": 1}', "an integer"),
    "mixed lists": ('{"a": [1]}', '{"a": ["x"]}', "'a[]' is list<item: int64> in this run, and here it is a string"),
    "a key that appears twice": ('{"a": 1}', '{"a": 1, "a": 2}', "the key 'a' appears twice"),
    "a key that appears twice inside": ('{"a": {"b": 1}}', '{"a": {"b": 1, "b": 1}}', "the key 'b' appears twice"),
    "half a surrogate pair": ('{"a": "x"}', '{"a": "\\ud800"}', "not valid JSON"),
}  # fmt: skip


@pytest.mark.parametrize(("usual", "odd", "message"), ODD.values(), ids=ODD)
def test_a_value_that_does_not_fit_is_reported_and_never_changed(tmp_path, usual, odd, message):
    source = lines(tmp_path / "in.jsonl", usual, odd, usual)
    result = run(ReadJsonl(source), WriteJsonl(str(tmp_path / "out")))
    assert json_rows(tmp_path / "out") == [json.loads(usual)] * 2
    (record,) = result.quarantined
    assert message in record.message
    assert (record.source, record.row) == (source, len(usual) + 1)


KEPT = {
    "minus zero": [{"a": -0.0}, {"a": 1}],
    "keys that differ in case": [{"a": 1, "A": "x"}],
    "an empty key": [{"": 1, "a": 2}],
    "keys with dots": [{"a.b": 1, "a": {"b": 2}}],
    "lists of lists": [{"a": [[1], [], None, [None]]}],
    "what looks like a key": [{"a": '"a": 1, "a": 2'}],
    "what looks like null": [{"a": ',"b":null', "b": "{}"}, {"a": "}\n{"}],
    "a long number in text": [{"a": "1180591620717411303424"}],
    "keys of the reader": [{"_source": "s", "_row": 7}],
}


@pytest.mark.parametrize("rows", KEPT.values(), ids=KEPT)
def test_odd_values_that_fit_are_as_they_were(tmp_path, rows):
    source = lines(tmp_path / "in.jsonl", *rows)
    for writer, again in ((WriteJsonl, ReadJsonl), (WriteParquet, ReadParquet)):
        folder = tmp_path / writer.__name__
        assert not run(ReadJsonl(source), writer(str(folder))).quarantined
        run(again(str(folder)), WriteJsonl(str(folder) + "2"))
        names = {"_source_in_file": "_source", "_row_in_file": "_row"}
        got = json_rows(tmp_path / f"{writer.__name__}2")
        assert [{names.get(key, key): value for key, value in row.items()} for row in got] == rows
        assert [math.copysign(1, row["a"]) for row in got if isinstance(row.get("a"), float)] in ([], [-1, 1])


def test_keys_and_values_that_come_too_late_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("curator_table.types.column_types._MAX_BYTES", 2_000)
    usual = {"text": "x" * 50, "n": 1, "o": {"a": 1}}
    late = [{**usual, "n": 0.5}, {**usual, "new": 1}, {**usual, "o": {"a": 1, "b": 2}}]
    source = lines(tmp_path / "in.jsonl", *[usual] * 400, *late, *[usual] * 99)
    result = run(ReadJsonl(source), WriteParquet(str(tmp_path / "out")))
    assert rows_of(tmp_path / "out").num_rows == 499
    messages = [message for _, message in problems(result)]
    assert "column 'n' is int64 in this run, and here it is a float" in messages[0]
    assert "schema: {n: json}" in messages[0]
    assert "the key 'new' was in none of the records that were looked at before the run" in messages[1]
    assert "schema: {new: json}" in messages[1]
    assert "column 'o.b' is struct<a: int64> in this run, and here it is a new field" in messages[2]
    chosen = run(ReadJsonl(source, columns=["text"]), WriteParquet(str(tmp_path / "text")))
    assert not chosen.quarantined
    given = {"n": "float64", "new": "int64", "o": {"a": "int64", "b": "int64"}}
    result = run(ReadJsonl(source, schema=given), WriteParquet(str(tmp_path / "given")))
    assert not result.quarantined
    assert rows_of(tmp_path / "given")["o"].to_pylist()[402] == {"a": 1, "b": 2}


def test_a_column_of_json_keeps_values_of_every_kind(tmp_path):
    rows = [{"text": "t", "a": value} for value in (1, "x", [1, "x", None], {"b": {}}, 2**70, True, 0.5)]
    source = lines(tmp_path / "in.jsonl", *rows, {"text": "t"})
    result = run(ReadJsonl(source, schema={"a": "json"}), WriteParquet(str(tmp_path / "out")))
    assert not result.quarantined
    run(ReadParquet(str(tmp_path / "out")), WriteJsonl(str(tmp_path / "again")))
    assert json_rows(tmp_path / "again") == [*rows, {"text": "t"}]


def test_columns_whose_values_disagree_are_told_before_the_run(tmp_path, caplog):
    source = lines(tmp_path / "in.jsonl", {"a": "x"}, {"a": "y"}, {"a": 1})
    with caplog.at_level(logging.WARNING):
        Pipeline(stages=[ReadJsonl(source)]).build()
    assert "column 'a' has values of several kinds where it was looked at (string: 2, number: 1)" in caplog.text


@pytest.mark.parametrize("declared", [{"a": "integer"}, {"a": "list[json]"}, {"a": {}}, {"a": "timestamp[s]"}], ids=str)
def test_types_that_are_not_known_are_refused(tmp_path, declared):
    source = lines(tmp_path / "in.jsonl", {"a": 1})
    with pytest.raises(PipelineError, match="which is not known"):
        Pipeline(stages=[ReadJsonl(source, schema=declared)]).build()


def test_a_resumed_run_must_find_the_same_types(tmp_path):
    folder = tmp_path / "in"
    lines(folder / "a.jsonl", {"text": "x", "a": 1})
    stages = [ReadJsonl(str(folder), block_bytes=1), WriteParquet(str(tmp_path / "out"))]
    Pipeline(stages=stages).run(LocalExecutor(), run_dir=tmp_path / "run")
    lines(folder / "b.jsonl", {"text": "x", "a": 0.5})
    with pytest.raises(ResumeError, match=r"schema .*int64.* → .*double"):
        Pipeline(stages=stages).run(LocalExecutor(), run_dir=tmp_path / "run", resume=True)
    Pipeline(stages=stages).run(LocalExecutor(), run_dir=tmp_path / "run", resume="changed")
    assert sorted(rows_of(tmp_path / "out")["a"].to_pylist()) == [0.5, 1.0]


def parquet(path, **columns):
    path.parent.mkdir(exist_ok=True, parents=True)
    pq.write_table(pa.table(columns), path)


PAIRS = {
    "widths": (pa.array([1], pa.int32()), pa.array([2**40], pa.int64())),
    "signs": (pa.array([-1], pa.int8()), pa.array([2**31], pa.uint32())),
    "integers and floats": (pa.array([1], pa.int64()), pa.array([0.5], pa.float32())),
    "texts": (pa.array(["x"]), pa.array(["y"], pa.large_string())),
    "references": (pa.array(["x"]), pa.array(["y"]).dictionary_encode()),
    "units": (pa.array([1], pa.timestamp("s")), pa.array([10**6 + 1], pa.timestamp("us"))),
    "fields": (pa.array([{"a": 1}]), pa.array([{"b": "x"}])),
    "nulls": (pa.nulls(1), pa.array([[1]])),
}


@pytest.mark.parametrize(("first", "second"), PAIRS.values(), ids=PAIRS)
def test_parquet_files_with_other_types_become_one_table(tmp_path, first, second):
    parquet(tmp_path / "in" / "1.parquet", text=["t"], x=first)
    parquet(tmp_path / "in" / "2.parquet", text=["t"], x=second)
    parquet(tmp_path / "in" / "3.parquet", text=["t"])
    result = run(ReadParquet(str(tmp_path / "in"), block_bytes=1), WriteParquet(str(tmp_path / "out")))
    assert not result.quarantined
    assert len(list((tmp_path / "out").iterdir())) == 3
    expected = [*first.to_pylist(), *second.to_pylist(), None]
    got = [without_nulls(value) for value in rows_of(tmp_path / "out")["x"].to_pylist()]
    assert sorted(got, key=str) == sorted(expected, key=str)


def test_parquet_values_that_would_change_are_reported_by_row(tmp_path):
    parquet(tmp_path / "in" / "1.parquet", x=[0.5])
    parquet(tmp_path / "in" / "2.parquet", x=[1, 2**53 + 1, 3])
    result = run(ReadParquet(str(tmp_path / "in")), WriteParquet(str(tmp_path / "out")))
    assert sorted(rows_of(tmp_path / "out")["x"].to_pylist()) == [0.5, 1, 3]
    (record,) = result.quarantined
    assert (record.error_type, record.row) == ("WrongType", 1)
    assert "column 'x' is double in this run" in record.message


def test_parquet_files_that_do_not_go_together_are_refused_or_quarantined(tmp_path):
    parquet(tmp_path / "in" / "1.parquet", text=["t"], x=[1])
    parquet(tmp_path / "in" / "2.parquet", text=["t"], x=["one"])
    with pytest.raises(PipelineError, match=r"2\.parquet: column 'x': it is int64 in one file and string in another"):
        run(ReadParquet(str(tmp_path / "in")), WriteParquet(str(tmp_path / "out")))
    result = run(ReadParquet(str(tmp_path / "in"), schema={"x": "int64"}), WriteParquet(str(tmp_path / "out")))
    assert rows_of(tmp_path / "out").to_pylist() == [{"text": "t", "x": 1}]
    assert "column 'x' is string in this file and int64 in this run" in result.quarantined[0].message
    result = run(ReadParquet(str(tmp_path / "in"), columns=["text"]), WriteParquet(str(tmp_path / "text")))
    assert not result.quarantined


def test_columns_of_late_parquet_files_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("curator_table.types.column_types._MAX_FILES", 1)
    for number in range(4):
        parquet(tmp_path / "in" / f"{number}.parquet", **{"text": ["t"], f"x{number}": [number]})
    result = run(ReadParquet(str(tmp_path / "in")), WriteParquet(str(tmp_path / "out")))
    assert rows_of(tmp_path / "out").num_rows == 1
    assert len(result.quarantined) == 3
    assert all("is in none of the files that were looked at before the run" in text for _, text in problems(result))


def test_csv_files_with_other_columns_become_one_table(tmp_path):
    for number, text in enumerate(("text,a\nx,1\n", "b,text\ny,z\n")):
        (tmp_path / f"{number}.csv").write_text(text)
    run(ReadCsv(str(tmp_path / "*.csv"), block_bytes=11), WriteParquet(str(tmp_path / "out")))
    assert sorted(rows_of(tmp_path / "out").to_pylist(), key=lambda row: row["text"]) == [
        {"text": "x", "a": "1", "b": None},
        {"text": "z", "a": None, "b": "y"},
    ]


@pytest.mark.parametrize("kind", [ReadHf, Blend])
def test_readers_of_several_sources_find_one_type_too(tmp_path, kind):
    lines(tmp_path / "in" / "train-a.jsonl", {"text": "x", "a": 1}, {"text": "y", "a": None})
    parquet(tmp_path / "in" / "train-b.parquet", text=["z"], a=[0.5], b=["only here"])
    sources = {
        "lines": BlendSource(str(tmp_path / "in" / "*.jsonl"), format="jsonl"),
        "columns": BlendSource(str(tmp_path / "in" / "*.parquet"), format="parquet"),
    }
    reader = ReadHf(str(tmp_path / "in"), block_bytes=1) if kind is ReadHf else Blend(sources, until="all_exhausted")
    result = run(reader, WriteParquet(str(tmp_path / "out")))
    assert not result.quarantined
    rows = rows_of(tmp_path / "out").select(["text", "a", "b"]).to_pylist()
    assert {row["text"]: (row["a"], row["b"]) for row in rows} == {
        "x": (1.0, None),
        "y": (None, None),
        "z": (0.5, "only here"),
    }


class Judge(ProcessingStage[TableBatch, TableBatch]):
    """Adds a column that is null, without a type, where a batch has nothing to say."""

    def process(self, task):
        return task.with_column(
            "score", pa.array([0.5 if text == "x" else None for text in task.data["text"].to_pylist()])
        )


def test_types_that_a_stage_mixes_up_are_told_when_the_run_is_over(tmp_path, caplog):
    source = lines(tmp_path / "in.jsonl", {"text": "x"}, {"text": "y"})
    stages = [ReadJsonl(source, block_bytes=1), Judge(), WriteParquet(str(tmp_path / "out"))]
    with caplog.at_level(logging.WARNING):
        Pipeline(stages=stages).run(LocalExecutor())
    assert "cannot be read as one table: column 'score' is" in caplog.text


def test_numbers_that_json_does_not_have_are_counted(tmp_path):
    parquet(tmp_path / "in.parquet", text=["a", "b", "c"], x=[float("nan"), 1.0, float("inf")])
    result = run(ReadParquet(str(tmp_path / "in.parquet")), WriteJsonl(str(tmp_path / "out")))
    assert result.stats["table.write_jsonl"].counters == {"NaN or infinity written as null": 2}
