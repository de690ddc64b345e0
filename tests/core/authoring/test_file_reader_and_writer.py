"""A reader and a writer as a third party writes them: one class with one method each, in a pipeline."""

import gzip
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.sdk import DataError, FileReader, FileSlice, FileWriter, Limits, processing_stage
from curator_core.values.errors import ConfigError, PipelineError, StageError

LONG = f"LOG {'-' * 995}\n"
"""A first line so long that a file is a unit of work by itself with ``block_bytes=1000``."""


@dataclass
class ReadLogs(FileReader):
    """Read the lines of logs; the first must say that it is a log."""

    extensions = (".log", ".log.gz")

    def read_slice(self, piece):
        with self.open(piece) as file:
            if not file.readline().startswith(b"LOG"):
                raise DataError("the file is not a log", source=piece.path)
            yield pa.table({"message": [line.decode().rstrip("\n") for line in file]})


@dataclass
class WriteLogs(FileWriter):
    """Write messages as lines."""

    extension = ".log"

    def write(self, table, file):
        assert table.column_names == ["message"]
        file.write(b"LOG\n")
        for message in table["message"].to_pylist():
            if message == "unwritable":
                raise ValueError(message)
            file.write(f"{message}\n".encode())


@dataclass
class WriteSmallLogs(WriteLogs):
    extension = ".log.gz"


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.log").write_text(f"{LONG}{name} 1\n{name} 2\n")
    (folder / "notes.txt").write_text("not looked for")
    return folder


def run(*stages, **options):
    return Pipeline("logs", stages=[*stages]).run(LocalExecutor(max_attempts=1), **options)


def rows(result):
    return [row for batch in result for row in batch.data.to_pylist()]


def files_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_small_files_are_read_together_and_rows_know_their_place(logs):
    (logs / "d.log.gz").write_bytes(gzip.compress(b"LOG\nd 1\n"))
    result = run(ReadLogs(str(logs)))
    assert len(result) == 1
    assert [(row["message"], Path(row["_source"]).name, row["_row"]) for row in rows(result)] == [
        *((f"{name} {row + 1}", f"{name}.log", row) for name in "abc" for row in (0, 1)),
        ("d 1", "d.log.gz", 0),
    ]
    assert result.stats["ReadLogs.files"].counters == {"ignored files: .txt": 1}
    assert len(run(ReadLogs(str(logs), limit_files=2, block_bytes=1000))) == 2


def test_a_damaged_file_is_one_bad_record_and_its_neighbours_come_out(logs):
    (logs / "b.log").write_text("something else\n")
    (logs / "d.log.gz").write_bytes(gzip.compress(b"LOG\nd 1\n")[:-4])
    (logs / "e.log").write_bytes(b"LOG\n\xff\n")
    result = run(ReadLogs(str(logs)))
    assert [row["message"] for row in rows(result)] == ["a 1", "a 2", "c 1", "c 2"]
    assert [(Path(each.source).name, each.row, each.error_type) for each in result.quarantined] == [
        ("b.log", 0, "UnreadableFile"),
        ("d.log.gz", 0, "UnreadableFile"),
        ("e.log", 0, "UnicodeDecodeError"),
    ]


def test_large_tables_are_cut(logs):
    (logs / "long.log").write_text("LOG\n" + "x" * 99 + "\n" + ("y" * 99 + "\n") * 99)
    result = run(ReadLogs(str(logs / "long.log"), block_bytes=1000))
    assert sum(batch.num_rows for batch in result) == 100
    assert max(batch.data.nbytes for batch in result) < 3000
    assert [row["_row"] for row in rows(result)] == list(range(100))


def test_a_decompression_bomb_is_refused(logs):
    @dataclass
    class Strict(ReadLogs):
        limits = Limits(max_expansion=10, expansion_floor_bytes=1000)

    (logs / "b.log.gz").write_bytes(gzip.compress(b"LOG\n" + bytes(2**20)))
    (record,) = run(Strict(str(logs))).quarantined
    assert "decompression bomb" in record.message


def test_a_reader_that_gives_provenance_itself_is_left_alone(tmp_path):
    @dataclass
    class Names(FileReader):
        def read_slice(self, piece):
            yield pa.table({"_source": ["elsewhere"], "_row": [7]})

    (tmp_path / "a").touch()
    assert rows(run(Names(str(tmp_path)))) == [{"_source": "elsewhere", "_row": 7}]


def test_options_go_to_the_reader_and_a_name_to_both_its_stages(logs):
    for name in ("read", "ReadLogs.again"):
        plan = Pipeline(stages=[ReadLogs(str(logs)).with_(name=name, max_attempts=7)]).build()
        stages = [planned.stage for planned in plan.stages]
        assert [(each.name, each.max_attempts) for each in stages] == [(f"{name}.files", None), (name, 7)]


def test_what_is_missing_is_found_before_the_run(tmp_path):
    (tmp_path / "a.txt").touch()
    with pytest.raises(PipelineError, match=r"no files ending in \.log"):
        Pipeline(stages=[ReadLogs(str(tmp_path))]).build()
    with pytest.raises(ConfigError, match="does not exist"):
        ReadLogs(str(tmp_path / "nowhere")).preflight()
    with pytest.raises(TypeError, match="read_slice"):
        FileReader("in")
    with pytest.raises(StageError, match="neither write nor process"):
        FileWriter(str(tmp_path)).process(TableBatch(data={"a": [1]}, task_id="3f2a"))


def test_columns_that_are_always_the_same_are_checked_before_the_run(logs):
    @dataclass
    class ReadFixed(ReadLogs):
        has_fixed_columns = True

        def outputs(self):
            return ["message", "_source", "_row"]

    @processing_stage(name="weigh", inputs=["weight"])
    def weigh(batch: TableBatch) -> TableBatch:
        return batch

    Pipeline(stages=[ReadLogs(str(logs)), weigh]).build()
    with pytest.raises(PipelineError, match="reads column 'weight'"):
        Pipeline(stages=[ReadFixed(str(logs)), weigh]).build()


def test_files_are_named_after_tasks_and_whole_or_not_there(logs, tmp_path):
    out = tmp_path / "out"
    result = run(ReadLogs(str(logs), block_bytes=1000), WriteLogs(str(out)))
    assert all(path.read_text().startswith("LOG\n") for path in out.iterdir())
    assert sorted(path.name for path in out.iterdir()) == sorted(Path(task.paths[0]).name for task in result)
    assert [(task.meta["rows"], task.meta["bytes"]) for task in result] == [(2, 12)] * 3
    (logs / "c.log").write_text(f"{LONG}c 1\nunwritable\n")
    result = run(ReadLogs(str(logs), block_bytes=1000), WriteLogs(str(tmp_path / "other")))
    assert len(result.quarantined) == 1
    assert len(files_in(tmp_path / "other")) == 2
    run(ReadLogs(str(logs / "a.log")), WriteSmallLogs(str(tmp_path / "small")))
    (path,) = (tmp_path / "small").iterdir()
    assert path.name.endswith(".log.gz")
    assert gzip.decompress(path.read_bytes()) == b"LOG\na 1\na 2\n"


def test_a_run_is_resumed_and_output_of_changed_input_is_removed(logs, tmp_path):
    def go(**options):
        stages = [ReadLogs(str(logs), block_bytes=1000), WriteLogs(str(tmp_path / "out"))]
        return run(*stages, run_dir=tmp_path / "run", **options)

    go()
    whole = files_in(tmp_path / "out")
    lines = (tmp_path / "run" / "ledger.jsonl").read_text().splitlines(keepends=True)
    done = [line for line in lines if line.startswith('{"done"')]
    (tmp_path / "run" / "ledger.jsonl").write_text("".join(line for line in lines[:-1] if line != done[-1]))
    assert go(resume=True).resumed_sources == 2
    assert files_in(tmp_path / "out") == whole
    (logs / "c.log").write_text(f"{LONG}c 3\n")
    assert go(resume="changed").resumed_sources == 2
    assert sorted(files_in(tmp_path / "out").values()) == [b"LOG\na 1\na 2\n", b"LOG\nb 1\nb 2\n", b"LOG\nc 3\n"]


def test_output_among_the_input_is_refused(logs):
    with pytest.raises(PipelineError, match="the next run would take its own output for input"):
        Pipeline(stages=[ReadLogs(str(logs)), WriteLogs(str(logs / "out"))]).build()


def test_a_slice_is_read_by_hand(logs):
    piece = FileSlice(str(logs / "a.log"))
    (table,) = ReadLogs(str(logs)).read_slice(piece)
    assert table["message"].to_pylist() == ["a 1", "a 2"]
