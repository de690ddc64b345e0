"""The reading and writing stages, as plugins build on them."""

import pickle
from dataclasses import dataclass

import fsspec
import pyarrow as pa
import pytest

from curator_core.authoring.folder_reader import FolderReader
from curator_core.authoring.recording import Recording
from curator_core.authoring.stage import NodeInfo, WorkerInfo
from curator_core.authoring.tasks import EmptyTask, FileGroupTask, TableBatch
from curator_core.sdk import FileReader, FileWriter
from curator_core.values.errors import ConfigError, StageError, UnknownNameError
from curator_table import FORMATS, ListTables, ReadJsonl, WriteJsonl


class DocumentBatch(TableBatch):
    """A task type of a plugin."""


@dataclass
class ReadDocuments(ReadJsonl):
    text_column: str = "text"
    name = "docs.read"
    batch_type = DocumentBatch


@dataclass
class ReadColumns(FileReader):
    columns: list[str] | None = None
    name = "docs.read_parquet"
    table_format = FORMATS["parquet"]


@dataclass
class WriteDocuments(WriteJsonl):
    name = "docs.write"


@dataclass
class WriteColumns(FileWriter):
    columns: list[str] | None = None
    keep_provenance: bool = False
    table_format = FORMATS["parquet"]


def run(reader):
    """Run the parts of a reader by hand; return its batches and what it reported."""
    listing, reading = reader.decompose()
    recording = Recording()
    with recording.active():
        groups = list(listing.process(EmptyTask()))
        return [batch for group in groups for batch in reading.process(group)], recording.bad_records


def rows_of(batches):
    return [row for batch in batches for row in batch.data.to_pylist()]


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(5):
        lines = [f'{{"id": {number * 100 + row}, "text": "document {row}"}}\n' for row in range(100)]
        (folder / f"{number}.jsonl").write_text("".join(lines))
    return folder


def test_small_files_share_a_batch_and_large_ones_are_split_without_loss(corpus):
    batches, bad = run(ReadDocuments(str(corpus)))
    assert not bad
    assert len(batches) == 1
    assert isinstance(batches[0], DocumentBatch)
    split, _ = run(ReadDocuments(str(corpus), block_bytes=1000))
    assert len(split) > 10
    assert rows_of(split) == rows_of(batches)
    assert [row["id"] for row in rows_of(split)] == list(range(500))


def test_the_parts_are_named_typed_and_picklable(corpus):
    reader = ReadDocuments(str(corpus), columns=["text"])
    listing, reading = reader.decompose()
    assert (listing.name, reading.name) == ("docs.read.files", "docs.read")
    assert reading.thread_safe
    assert list(reader.outputs()) == ["text", "_source", "_row"]
    again = pickle.loads(pickle.dumps(reading))
    (group,) = listing.process(EmptyTask())
    assert next(again.process(group)).columns == ["text", "_source", "_row"]


def test_preflight_finds_columns_and_missing_inputs_before_the_run(corpus, tmp_path):
    assert ReadDocuments(str(corpus)).preflight() == ["id", "text", "_source", "_row"]
    assert ReadDocuments(str(corpus), columns=["later"]).preflight() == ["later", "_source", "_row"]
    with pytest.raises(ConfigError, match="no file matches"):
        ReadDocuments(f"{corpus}/*.csv").preflight()
    with pytest.raises(ConfigError, match=r"no files ending in \.parquet"):
        ReadColumns(str(corpus)).preflight()
    (tmp_path / "broken.parquet").write_bytes(b"broken")
    assert ReadColumns(str(tmp_path / "broken.parquet")).preflight() is None


def test_preflight_checks_columns_of_files_with_a_schema(tmp_path):
    task = TableBatch(data={"text": ["a"], "url": ["b"]}, task_id="t")
    writer = WriteColumns(str(tmp_path))
    path = writer.process(task).paths[0]
    assert ReadColumns(path).preflight() == ["text", "url", "_source", "_row"]
    with pytest.raises(UnknownNameError, match="did you mean 'text'"):
        ReadColumns(path, columns=["txet"]).preflight()


def test_an_unreadable_file_is_reported_and_its_neighbours_come_out(tmp_path):
    writer = WriteColumns(str(tmp_path))
    for name in ("a", "c"):
        writer.process(TableBatch(data={"text": [name]}, task_id=name))
    (tmp_path / "part-b.parquet").write_bytes(b"PAR1 torn")
    batches, bad = run(ReadColumns(str(tmp_path)))
    assert [row["text"] for row in rows_of(batches)] == ["a", "c"]
    assert [(record.source, record.error_type) for record in bad] == [
        (str(tmp_path / "part-b.parquet"), "UnreadableFile")
    ]


def test_files_whose_types_conflict_stay_apart_and_exact_ones_are_joined(tmp_path):
    contents = ['{"a": 1}', '{"a": 0.5}', '{"b": true}', '{"a": "x"}', '{"a": "y"}']
    for number, content in enumerate(contents):
        (tmp_path / f"{number}.jsonl").write_text(content)
    batches, bad = run(ReadDocuments([f"{tmp_path}/{n}.jsonl" for n in range(3)]))
    assert not bad
    assert len(batches) == 1
    assert batches[0].data["a"].to_pylist() == [1.0, 0.5, None]
    batches, _ = run(ReadDocuments(str(tmp_path)))
    assert [row.get("a") for row in rows_of(batches)] == [1, 0.5, None, "x", "y"]
    (tmp_path / "0.jsonl").write_text('{"a": 9007199254740993}')
    batches, _ = run(ReadDocuments([f"{tmp_path}/{n}.jsonl" for n in range(2)]))
    assert [row["a"] for row in rows_of(batches)] == [9007199254740993, 0.5]


def test_listing_is_lazy_limited_and_checked(corpus):
    listing = ListTables(str(corpus), format="jsonl", block_bytes=1000, limit_files=1)
    groups = list(listing.process(EmptyTask()))
    assert {path for group in groups for path in group.paths} == {str(corpus / "0.jsonl")}
    assert groups[0].fingerprint() != groups[1].fingerprint()
    with pytest.raises(UnknownNameError, match="did you mean 'jsonl'"):
        ListTables(str(corpus), format="jsnl")


def test_writer_names_files_by_task_and_leaves_provenance_out(corpus, tmp_path):
    (batch,), _ = run(ReadDocuments(str(corpus)))
    batch.task_id = "3f2a/0/2"
    writer = WriteDocuments(str(tmp_path / "out"))
    writer.setup_on_node(NodeInfo())
    writer.setup(WorkerInfo())
    result = writer.process(batch)
    path = tmp_path / "out" / "part-3f2a-0-2.jsonl"
    assert result.paths == [str(path)]
    assert result.meta == {"rows": 500, "bytes": path.stat().st_size}
    assert result.num_items == 500
    first = path.read_bytes()
    assert first.startswith(b'{"id":0,"text":"document 0"}\n')
    assert writer.process(batch).data == result.data
    assert path.read_bytes() == first
    assert list((tmp_path / "out").iterdir()) == [path]


def test_writer_options(tmp_path):
    task = TableBatch(data={"a": [1], "b": [2], "_source": ["f"], "_row": [0]}, task_id="t")

    def columns(**options):
        writer = WriteColumns(str(tmp_path), **options)
        return pa.parquet.read_schema(writer.process(task).paths[0]).names

    assert columns() == ["a", "b"]
    assert columns(keep_provenance=True) == ["a", "b", "_source", "_row"]
    assert columns(columns=["b"]) == ["b"]
    assert columns(columns=["b"], keep_provenance=True) == ["b", "_source", "_row"]
    with pytest.raises(UnknownNameError, match="column 'c'"):
        columns(columns=["c"])
    assert WriteDocuments(str(tmp_path), compression="zst").process(task).paths[0].endswith("part-t.jsonl.zst")


def test_writer_writes_nothing_for_no_rows_and_needs_an_id(tmp_path):
    writer = WriteDocuments(str(tmp_path))
    assert writer.process(TableBatch(data=pa.table({"a": pa.array([], pa.int64())}), task_id="t")) is None
    assert not list(tmp_path.iterdir())
    with pytest.raises(StageError, match="no id"):
        writer.process(TableBatch(data={"a": [1]}))


def test_writer_preflight(tmp_path):
    WriteDocuments(str(tmp_path / "new" / "deep")).preflight()
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="is a file"):
        WriteDocuments(str(tmp_path / "file")).preflight()
    with pytest.raises(ConfigError, match="not a writable folder"):
        WriteDocuments(str(tmp_path / "file" / "below")).preflight()


def test_reading_and_writing_any_filesystem(corpus):
    filesystem = fsspec.filesystem("memory")
    filesystem.store.clear()
    batches, _ = run(ReadDocuments(str(corpus), block_bytes=2000))
    writer = WriteDocuments("memory://out", compression="gz")
    writer.preflight()
    writer.setup_on_node(NodeInfo())
    for number, batch in enumerate(batches):
        batch.task_id = f"{number:03}"
        writer.process(batch)
    again, bad = run(ReadDocuments("memory://out/*.gz"))
    assert not bad
    assert [row["id"] for row in rows_of(again)] == list(range(500))
    assert rows_of(again)[0]["_source"] == "memory://out/part-000.jsonl.gz"
    filesystem.store.clear()


@dataclass
class ReadImages(FolderReader):
    name = "image.read"
    usual_extensions = (".png", ".jpg")


def test_whole_files_as_rows(tmp_path):
    for name, size in (("a.png", 10), ("b.jpg", 2000), ("c.txt", 5), ("d.png", 20)):
        (tmp_path / name).write_bytes(b"x" * size)
    reader = ReadImages(str(tmp_path), max_file_bytes=1000)
    assert reader.preflight() == ["uri", "key", "bytes", "size_bytes", "_source", "_row"]
    batches, bad = run(reader)
    assert rows_of(batches) == [
        {"uri": path, "key": key, "bytes": b"x" * size, "size_bytes": size, "_source": path, "_row": 0}
        for key, path, size in (("a", str(tmp_path / "a.png"), 10), ("d", str(tmp_path / "d.png"), 20))
    ]
    assert batches[0].data.schema.field("bytes").type == pa.large_binary()
    assert [(record.source, record.error_type) for record in bad] == [(str(tmp_path / "b.jpg"), "UnreadableFile")]
    batches, bad = run(ReadImages(str(tmp_path), with_bytes=False))
    assert [row["size_bytes"] for row in rows_of(batches)] == [10, 2000, 20]
    assert "bytes" not in batches[0].columns
    batches, _ = run(ReadImages(str(tmp_path), block_bytes=15))
    assert [batch.num_rows for batch in batches] == [1, 1, 1]


def test_a_file_that_vanishes_after_the_listing_is_reported(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    _, reading = ReadImages(str(tmp_path)).decompose()
    recording = Recording()
    with recording.active():
        assert list(reading.process(FileGroupTask(data=(str(tmp_path / "gone.png"),)))) == []
    assert "cannot open the file" in recording.bad_records[0].message


def test_importing_the_package_loads_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys, curator_core.authoring, curator_table.table_reader, curator_table.table_writer; "
        "heavy = {'pyarrow', 'polars', 'fsspec', 'ray', 'torch', 'numpy'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
