"""A pipeline whose output would be input of its next run is refused before it starts."""

import pytest
from fsspec import register_implementation
from fsspec.implementations.memory import MemoryFileSystem

from curator_core import Pipeline
from curator_core.files.paths import would_list
from curator_core.values.errors import PipelineError
from curator_text import ReadJsonl, WriteJsonl, WriteParquet


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "deep").mkdir(parents=True)
    for name in ("data/a.jsonl", "data/deep/b.jsonl"):
        (tmp_path / name).write_text('{"text": "one"}\n')
    return tmp_path


@pytest.mark.parametrize(
    ("read", "write"),
    [
        ("data", "data"),
        ("data", "data/out"),
        ("data/", "{folder}/data/out/"),
        ("{folder}/data", "data/deep"),
        ("data/**/*.jsonl", "data/out"),
        ("data/*.jsonl", "data"),
        ("data/*", "data"),
        (["data/a.jsonl", "data"], "data/out"),
        ("data/deep", "link/deep"),
        ("link/*.jsonl", "data"),
        ("link/**/*.jsonl", "data/out"),
        ("link/deep/*", "link/deep"),
        ("data[1]", "data[1]/out"),
        ("data[1]", "data[1]"),
        ("data/part-3f2a.jsonl", "data"),
        ("link/part-3f2a.jsonl", "data"),
        ("data/part-[1].jsonl", "data"),
    ],
)
def test_output_among_the_input_is_refused(folder, read, write):
    (folder / "link").symlink_to(folder / "data")
    (folder / "data[1]").mkdir()
    for name in ("data[1]/a.jsonl", "data/part-3f2a.jsonl", "data/part-[1].jsonl"):
        (folder / name).write_text('{"text": "one"}\n')
    paths = [each.format(folder=folder) for each in ([read] if isinstance(read, str) else read)]
    pipeline = Pipeline(stages=[ReadJsonl(paths), WriteJsonl(write.format(folder=folder))])
    with pytest.raises(PipelineError, match="the next run would take its own output for input"):
        pipeline.build()


@pytest.mark.parametrize(
    ("read", "writer"),
    [
        ("data", WriteJsonl("out")),
        ("data", WriteJsonl("data-out")),
        ("data", WriteParquet("data/out")),  # not looked for by a reader of JSON lines
        ("data", WriteJsonl("data/_out")),  # nor are hidden folders
        ("data/*.jsonl", WriteJsonl("data/out")),
        ("data/a.jsonl", WriteJsonl("data")),
        ("data/deep", WriteJsonl("data")),
        ("data/part-3f2a.jsonl", WriteParquet("data")),  # no name that this writer gives
        ("data[1]/*.jsonl", WriteJsonl("data[1]")),  # a pattern, which matches data1
    ],
)
def test_output_that_is_not_read_again_is_fine(folder, read, writer):
    for name in ("data1/a.jsonl", "data/part-3f2a.jsonl"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text('{"text": "one"}\n')
    assert len(Pipeline(stages=[ReadJsonl(read), writer]).build().stages) == 3


def test_a_protocol_is_compared_as_a_whole():
    class Other(MemoryFileSystem):
        protocol = "memory2"

        @classmethod
        def _strip_protocol(cls, path):
            return MemoryFileSystem._strip_protocol(path.replace("memory2://", "memory://"))

    register_implementation("memory2", Other, clobber=True)
    assert would_list("memory2://data", "memory2://data/part-0.jsonl")
    assert not would_list("memory2://data", "memory://data/part-0.jsonl")
    assert not would_list("memory://data", "memory2://data/part-0.jsonl")
