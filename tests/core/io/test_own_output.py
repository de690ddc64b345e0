"""A pipeline whose output would be input of its next run is refused before it starts."""

import pytest

from curator_core import Pipeline
from curator_core.errors import PipelineError
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
    ],
)
def test_output_among_the_input_is_refused(folder, read, write):
    (folder / "link").symlink_to(folder / "data")
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
    ],
)
def test_output_that_is_not_read_again_is_fine(folder, read, writer):
    assert len(Pipeline(stages=[ReadJsonl(read), writer]).build().stages) == 3
