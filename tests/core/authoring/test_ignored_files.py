"""Files in a folder that a reader does not look for are counted and named, never passed over in silence."""

import json

import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.authoring.folder_reader import FolderReader
from curator_core.files.paths import list_files


class ReadSounds(FolderReader):
    name = "read_sounds"
    usual_extensions = (".wav",)


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "sounds"
    (found / "deep").mkdir(parents=True)
    for name in ("a.wav", "b.WAV", "c.m4a", "deep/d.M4A", "e.txt", "README", ".hidden.m4a", "_marker"):
        (found / name).write_bytes(b"x")
    return found


def run(stage, **options):
    return Pipeline(stages=[stage]).run(LocalExecutor(), **options)


def test_ignored_files_are_counted_by_extension_and_reported(folder):
    result = run(ReadSounds(str(folder)))
    assert sum(task.num_rows for task in result) == 2
    counters = result.stats["read_sounds.files"].counters
    assert counters == {"ignored files: .m4a": 2, "ignored files: .txt": 1, "ignored files: no extension": 1}
    assert "    ignored: 4 files (.m4a 2, .txt 1, no extension 1)\n" in result.report()
    assert result.to_dict()["stages"][0]["counters"]["ignored files: .m4a"] == 2


@pytest.mark.parametrize("extensions", [[".wav", ".m4a"], ["WAV", "M4A"]])
def test_extensions_widen_what_is_looked_for(folder, extensions):
    result = run(ReadSounds(str(folder), extensions=extensions))
    assert sum(task.num_rows for task in result) == 4
    assert result.stats["read_sounds.files"].counters == {"ignored files: .txt": 1, "ignored files: no extension": 1}


def test_what_a_pattern_names_is_never_ignored(folder):
    result = run(ReadSounds(str(folder / "*.txt")))
    assert sum(task.num_rows for task in result) == 1
    assert "ignored" not in result.report()


def test_on_other_filesystems_too(folder):
    import fsspec

    memory = fsspec.filesystem("memory")
    for name in ("a.wav", "c.m4a"):
        memory.pipe(f"/ignored/{name}", b"x")
    ignored = []
    files = list_files("memory://ignored", extensions=[".wav"], on_ignored=ignored.append)
    assert len(files) == 1
    assert ignored == ["/ignored/c.m4a"]


def test_a_resumed_run_counts_them_once(folder, tmp_path):
    pipeline = Pipeline(stages=[ReadSounds(str(folder), block_bytes=1)])
    state_folder = tmp_path / "run"
    pipeline.run(LocalExecutor(), run_dir=state_folder)
    ledger = state_folder / "ledger.jsonl"
    lines = ledger.read_text().splitlines()
    unfinished = [line for line in lines if "finished" not in json.loads(line)][:-1]
    ledger.write_text("\n".join(unfinished) + "\n")
    result = pipeline.run(LocalExecutor(), run_dir=state_folder, resume=True)
    assert result.stats["read_sounds.files"].counters["ignored files: .m4a"] == 2
