"""The readers and writers of curator-text, end to end through pipelines."""

import gzip
import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from curator_core import LocalExecutor, Pipeline, make_stage
from curator_core.values.errors import ConfigError, PipelineError
from curator_text import (
    Normalize,
    ReadArrow,
    ReadCsv,
    ReadJsonl,
    ReadParquet,
    WordCount,
    WriteArrow,
    WriteCsv,
    WriteJsonl,
    WriteParquet,
)

ROWS = [{"id": number, "text": f"document {number} " + "word " * number, "url": f"u{number}"} for number in range(20)]


def write_jsonl(path, rows=ROWS):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def read_back(folder):
    rows = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".parquet":
            rows += pq.read_table(path).to_pylist()
        elif path.suffix == ".arrow":
            rows += pa.ipc.open_file(path).read_all().to_pylist()
        elif path.suffix == ".csv":
            rows += pyarrow.csv.read_csv(path).to_pylist()
        else:
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            rows += [json.loads(line) for line in content.splitlines()]
    return rows


def make_input(kind, folder):
    folder.mkdir()
    table = pa.Table.from_pylist(ROWS)
    if kind is ReadJsonl:
        return write_jsonl(folder / "in.jsonl")
    if kind is ReadParquet:
        pq.write_table(table, folder / "in.parquet", row_group_size=7)
        return str(folder / "in.parquet")
    if kind is ReadArrow:
        with pa.ipc.new_stream(folder / "in.arrow", table.schema) as stream:
            stream.write_table(table, max_chunksize=7)
        return str(folder / "in.arrow")
    pyarrow.csv.write_csv(table, folder / "in.csv")
    return str(folder / "in.csv")


@pytest.mark.parametrize("writer", [WriteJsonl, WriteParquet, WriteArrow, WriteCsv])
@pytest.mark.parametrize("reader", [ReadJsonl, ReadParquet, ReadCsv, ReadArrow])
def test_every_reader_feeds_every_writer(reader, writer, tmp_path):
    source = make_input(reader, tmp_path / "in")
    result = Pipeline(stages=[reader(source), writer(str(tmp_path / "out"))]).run(LocalExecutor())
    is_text = reader is ReadCsv and writer is not WriteCsv  # read back, numbers in CSV are numbers again
    expected = [{**row, "id": str(row["id"])} for row in ROWS] if is_text else ROWS
    assert read_back(tmp_path / "out") == expected
    assert sum(task.num_items for task in result) == len(ROWS)


@pytest.mark.parametrize("reader", [ReadJsonl, ReadParquet, ReadCsv, ReadArrow])
def test_readers_make_tables_with_provenance(reader, tmp_path):
    source = make_input(reader, tmp_path / "in")
    for batch in Pipeline(stages=[reader(source)]).run():
        assert set(batch.data["_source"].to_pylist()) == {source}
        assert len(set(batch.data["_row"].to_pylist())) == batch.num_rows


@pytest.mark.parametrize("reader", [ReadJsonl, ReadParquet, ReadCsv, ReadArrow])
def test_only_chosen_columns_are_read_and_a_filter_of_text_finds_its_own(reader, tmp_path):
    source = make_input(reader, tmp_path / "in")
    plan = Pipeline(stages=[reader(source, columns=["id", "text"]), WordCount(min_words=0)]).build()
    assert plan.stages[-1].columns == ("_row", "_source", "id", "text")
    (batch,) = Pipeline(stages=[reader(source, columns=["id", "url"])]).run()
    assert batch.columns == ["id", "url", "_source", "_row"]
    with pytest.raises(PipelineError, match="reads column 'text'"):
        Pipeline(stages=[reader(source, columns=["id"]), WordCount()]).build()


def test_a_small_cleaning_job(tmp_path):
    rows = [{"text": "too  short\r\n"}, {"text": "this one is\x00  long enough \r\n"}, {"text": None}, {"no": "text"}]
    source = write_jsonl(tmp_path / "in.jsonl", rows)
    stages = [
        ReadJsonl(source),
        Normalize(),
        WordCount(min_words=4),
        WriteJsonl(str(tmp_path / "out"), columns=["text"]),
    ]
    result = Pipeline(stages=stages).run()
    assert read_back(tmp_path / "out") == [{"text": "this one is long enough"}]
    assert result.stats["text.word_count"].dropped == {"too_few_words": 1, "missing_value": 2}
    assert result.stats["table.read_jsonl"].rows_out == 4


def test_a_bad_line_is_quarantined_with_its_place(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "good"}\n{"text": \n{"text": "also good"}\n')
    result = Pipeline(stages=[ReadJsonl(str(tmp_path / "in.jsonl"))]).run()
    assert [text for task in result for text in task.data["text"].to_pylist()] == ["good", "also good"]
    (record,) = result.quarantined
    assert (record.source, record.row) == (str(tmp_path / "in.jsonl"), 17)


@pytest.mark.parametrize("block_bytes", [1, 50, 333, 10_000_000])
def test_cutting_the_input_changes_neither_rows_nor_order(block_bytes, tmp_path):
    source = write_jsonl(tmp_path / "in.jsonl")
    result = Pipeline(stages=[ReadJsonl(source, block_bytes=block_bytes), WordCount(min_words=0)]).run()
    assert [row["id"] for task in result for row in task.data.to_pylist()] == [row["id"] for row in ROWS]


def test_compressed_output_and_provenance_on_request(tmp_path):
    source = write_jsonl(tmp_path / "in.jsonl")
    writer = WriteJsonl(str(tmp_path / "out"), compression="gz", keep_provenance=True)
    (written,) = Pipeline(stages=[ReadJsonl(source), writer]).run()
    assert written.paths[0].endswith(".jsonl.gz")
    first = read_back(tmp_path / "out")[0]
    assert (first["_source"], first["_row"]) == (source, 0)
    with pytest.raises(ConfigError, match="unknown parameter"):
        make_stage("table.write_parquet", path="out", compression="gz")


@pytest.mark.parametrize("writer", [WriteJsonl, WriteParquet, WriteArrow])
def test_large_batches_become_several_files(writer, tmp_path):
    source = write_jsonl(tmp_path / "in.jsonl")
    stage = writer(str(tmp_path / "out"), max_file_bytes=500)
    (written,) = Pipeline(stages=[ReadJsonl(source), stage]).run()
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == sorted(path.rpartition("/")[2] for path in written.paths)
    assert len(names) > 2
    assert names[1].split(".")[1] == "0001"
    assert read_back(tmp_path / "out") == ROWS
    stage.remove_output([written.task_id.partition("/")[0]], only_torn=False)
    assert list((tmp_path / "out").iterdir()) == []
    with pytest.raises(ConfigError, match="max_file_bytes must be positive"):
        writer("out", max_file_bytes=0)


def test_problems_are_found_before_anything_runs(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"body": "x"}\n')
    with pytest.raises(PipelineError, match="text"):
        Pipeline(stages=[ReadJsonl(str(tmp_path)), WordCount()]).build()
    with pytest.raises(PipelineError, match="does not exist"):
        Pipeline(stages=[ReadJsonl(str(tmp_path / "missing.jsonl")), WordCount()]).build()
    pq.write_table(pa.table({"body": ["x"]}), tmp_path / "in.parquet")
    with pytest.raises(PipelineError, match=r"unknown column of .*'text'"):
        Pipeline(stages=[ReadParquet(str(tmp_path / "in.parquet"), columns=["text"])]).build()
    Pipeline(stages=[ReadParquet(str(tmp_path / "in.parquet")), WordCount(text_column="body")]).build()


def test_stages_are_made_by_their_registry_names(tmp_path):
    source = write_jsonl(tmp_path / "in.jsonl")
    stages = [
        make_stage("table.read_jsonl", paths=source),
        make_stage("text.word_count", min_words=10),
        make_stage("table.write_parquet", path=str(tmp_path / "out")),
    ]
    Pipeline(stages=stages).run()
    assert [row["id"] for row in read_back(tmp_path / "out")] == list(range(8, 20))
