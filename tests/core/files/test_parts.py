"""Parts of tasks: what they are called, and which belong to a source."""

import fsspec
import pytest

from curator_core.files.parts import part_name, remove_parts
from curator_core.values.source_ids import SourceIds

OURS = ["part-3f2a.jsonl", "part-3f2a-0.csv.gz", "part-3f2a-10-2.arrow", "part-7.parquet"]
TORN = [".part-3f2a-0.jsonl.tmp-17-beef", ".part-7.parquet.tmp-1-0"]
OTHERS = [
    "part-3f2ab.jsonl",
    "part-3f2a-final.jsonl",
    "part-3f2ax2.jsonl",
    "part-77.parquet",
    "3f2a.jsonl",
    ".part-9.jsonl.tmp-17-beef",
    ".part-3f2a.jsonl.swp",
    "notes.txt",
]


@pytest.mark.parametrize("place", ["local", "memory"])
@pytest.mark.parametrize("only_torn", [True, False])
@pytest.mark.parametrize("sources", [{"3f2a", "7"}, SourceIds(["3f2a", "7"])], ids=["set", "ids"])
def test_only_parts_of_the_given_sources_are_removed(tmp_path, memory, place, only_torn, sources):
    folder = str(tmp_path) if place == "local" else "memory://out"
    filesystem, inner = fsspec.core.url_to_fs(folder)
    for name in OURS + TORN + OTHERS:
        filesystem.pipe_file(f"{inner}/{name}", b"x")
    removed = remove_parts(folder, sources, only_torn=only_torn)
    assert sorted(path.rpartition("/")[2] for path in removed) == sorted(TORN if only_torn else OURS + TORN)
    left = {path.rpartition("/")[2] for path in filesystem.ls(inner, detail=False)}
    assert left == set(OTHERS + (OURS if only_torn else []))
    assert remove_parts(f"{folder}/not-there", sources) == []


def test_parts_of_retried_rows_are_found_by_the_ids_of_their_tasks(tmp_path):
    (tmp_path / part_name("3f2a/0/q1b05", ".parquet")).touch()
    (tmp_path / part_name("3f2a/0", ".parquet")).touch()
    (removed,) = remove_parts(str(tmp_path), ["3f2a/0/q1b05", ""])
    assert removed.endswith("/part-3f2a-0-q1b05.parquet")
