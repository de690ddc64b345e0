"""What lies in an input folder cannot lead a run out of it, or make it wait for ever."""

import json
import os
import socket

import fsspec
import pytest

from curator_audio import ReadFolder as ReadAudio
from curator_core import LocalExecutor, Pipeline
from curator_core.files.paths import list_files
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.values.errors import ConfigError, PipelineError
from curator_image import ReadFolder as ReadImages
from curator_table.hf.layout import chosen_files
from curator_text import ReadHf, ReadJsonl, ReadText
from curator_video import Read, SampleFrames
from tests.support.made_videos import make_video
from tests.support.recordings import encoded, tone


@pytest.fixture
def world(tmp_path):
    """A folder with a good file, a link out of it to a file and to a folder, and a link that stays inside."""
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "private" / "deep").mkdir(parents=True)
    for name in ("in/a.jsonl", "private/s.jsonl", "private/deep/d.jsonl"):
        (tmp_path / name).write_text(json.dumps({"text": name}) + "\n")
    (tmp_path / "in" / "out.jsonl").symlink_to(tmp_path / "private" / "s.jsonl")
    (tmp_path / "in" / "sub" / "folder").symlink_to(tmp_path / "private" / "deep")
    (tmp_path / "in" / "sub" / "same.jsonl").symlink_to("../a.jsonl")
    (tmp_path / "in" / "again").symlink_to("sub")
    return tmp_path


def run(*stages, **options):
    result = Pipeline(stages=list(stages)).run(LocalExecutor(), **options)
    return result, [row for batch in result for row in batch.data.to_pylist()]


def test_links_out_of_a_folder_are_reported_and_not_followed(world):
    result, rows = run(ReadJsonl(str(world / "in")))
    assert [row["text"] for row in rows] == ["in/a.jsonl", "in/a.jsonl"]  # one of them through the link inside
    assert [(record.error_type, record.source) for record in result.quarantined] == [
        ("UnreadableFile", str(world / "in" / "out.jsonl")),
        ("UnreadableFile", str(world / "in" / "sub" / "folder")),
    ]
    assert all("follow_links: true" in record.message for record in result.quarantined)
    assert result.stats["table.read_jsonl.files"].failed == {"UnreadableFile": 2}


def test_links_are_followed_where_the_pipeline_says_so(world):
    result, rows = run(ReadJsonl(str(world / "in"), follow_links=True))
    assert not result.quarantined
    assert sorted(row["text"] for row in rows) == [
        "in/a.jsonl",
        "in/a.jsonl",
        "private/deep/d.jsonl",
        "private/s.jsonl",
    ]


def test_a_link_that_is_named_in_full_is_followed(world):
    result, rows = run(ReadJsonl(str(world / "in" / "out.jsonl")))
    assert [row["text"] for row in rows] == ["private/s.jsonl"]
    assert not result.quarantined


def test_globs_treat_links_as_folders_do(world):
    result, rows = run(ReadJsonl(f"{world}/in/*.jsonl"))
    assert [row["text"] for row in rows] == ["in/a.jsonl"]
    assert [record.source for record in result.quarantined] == [str(world / "in" / "out.jsonl")]
    result, rows = run(ReadJsonl(f"{world}/in/*/*.jsonl"))
    assert [row["text"] for row in rows] == ["in/a.jsonl"]
    result, rows = run(ReadJsonl(f"{world}/in/**/*.jsonl", follow_links=True))
    assert len(rows) == 4


def test_a_link_that_a_glob_does_not_match_is_no_concern(world):
    (world / "in" / "elsewhere").symlink_to(world / "private")
    assert [entry.path for entry in list_files(f"{world}/in/s*/same.jsonl")] == [str(world / "in/sub/same.jsonl")]


@pytest.mark.parametrize("follow_links", [False, True])
def test_links_to_folders_inside_are_followed_where_their_files_are_not_found_otherwise(tmp_path, follow_links):
    for name in (".versions/3/x.jsonl", "store/v2/a/x.jsonl", "b/x.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    (tmp_path / "current").symlink_to(".versions/3")
    (tmp_path / "a").symlink_to("store/v2/a")
    (tmp_path / "again").symlink_to("b")
    (tmp_path / "store" / "up").symlink_to(tmp_path)

    def found(path):
        return [os.path.relpath(entry.path, tmp_path) for entry in list_files(path, follow_links=follow_links)]

    assert found(tmp_path) == ["b/x.jsonl", "current/x.jsonl", "store/v2/a/x.jsonl"]
    assert found(f"{tmp_path}/*/x.jsonl") == ["a/x.jsonl", "b/x.jsonl", "current/x.jsonl"]
    assert found(f"{tmp_path}/**/again/x.jsonl") == ["again/x.jsonl"]


def test_a_folder_of_links_only_is_an_error_that_says_so(world):
    (world / "links").mkdir()
    (world / "links" / "s.jsonl").symlink_to(world / "private" / "s.jsonl")
    with pytest.raises(PipelineError, match="leads out of"):
        run(ReadJsonl(str(world / "links")))
    with pytest.raises(ConfigError, match="leads out of"):  # a caller that reports nothing gets no half of a list
        list_files(str(world / "in"))


def test_links_in_a_circle_end(world):
    (world / "private" / "deep" / "up").symlink_to(world)
    assert len(run(ReadJsonl(str(world / "in"), follow_links=True))[1]) >= 4


def test_a_retry_is_not_stopped_by_links(world):
    bad = world / "in" / "b.jsonl"
    bad.write_text("no json\n")
    pipeline = Pipeline(stages=[ReadJsonl(str(world / "in"))])
    pipeline.run(LocalExecutor(), run_dir=str(world / "run"))
    again = retry_quarantined(
        world / "run", pipeline=pipeline, choose=lambda record: record.source == str(bad) and record.row is not None
    )
    assert len(again.records) == 1


def irregular(folder, extension, monkeypatch):
    """Put a pipe and a socket among the files of a folder; to open the pipe is to wait for a writer."""
    os.mkfifo(folder / f"pipe.{extension}")
    monkeypatch.chdir(folder)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"socket.{extension}")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["video", "audio", "image", "text", "jsonl"])
def test_pipes_and_sockets_are_reported_and_never_opened(tmp_path, kind, monkeypatch):
    if kind == "video":
        make_video(tmp_path / "a.mp4")
        extension, readers = "mp4", [Read(str(tmp_path)), Read(str(tmp_path), with_bytes=True)]
    elif kind == "audio":
        (tmp_path / "a.wav").write_bytes(encoded(tone(1)))
        extension, readers = "wav", [ReadAudio(str(tmp_path)), ReadAudio(str(tmp_path), with_bytes=True)]
    elif kind == "image":
        (tmp_path / "a.png").write_bytes(b"png")
        extension, readers = "png", [ReadImages(str(tmp_path)), ReadImages(str(tmp_path), with_bytes=False)]
    else:
        extension = {"text": "txt", "jsonl": "jsonl"}[kind]
        (tmp_path / f"a.{extension}").write_text('{"text": "a"}\n')
        readers = [(ReadText if kind == "text" else ReadJsonl)(f"{tmp_path}/*.{extension}")]
    irregular(tmp_path, extension, monkeypatch)
    for reader in readers:
        result, rows = run(reader)
        assert len(rows) == 1
        assert [record.source for record in result.quarantined] == [
            str(tmp_path / f"{name}.{extension}") for name in ("pipe", "socket")
        ]
        assert "pipe, not a regular file" in result.quarantined[0].message


@pytest.mark.timeout(60)
def test_a_pipe_that_is_named_is_an_error_before_the_run(tmp_path, monkeypatch):
    irregular(tmp_path, "mp4", monkeypatch)
    with pytest.raises(PipelineError, match="pipe, not a regular file"):
        run(Read(str(tmp_path / "pipe.mp4")))


@pytest.mark.timeout(60)
def test_a_pipe_that_a_row_names_is_quarantined(tmp_path, monkeypatch):
    irregular(tmp_path, "mp4", monkeypatch)
    (tmp_path / "m.jsonl").write_text('{"uri": "pipe.mp4"}\n')
    result, rows = run(ReadJsonl(str(tmp_path / "m.jsonl")), SampleFrames(count=1))
    assert not rows
    assert "it is a pipe" in result.quarantined[0].message


@pytest.mark.parametrize(
    "name", ["../private/d.arrow", "/etc/hostname", "reference://x::http://127.0.0.1/y", "l.arrow"]
)
def test_a_dataset_cannot_name_files_outside_of_its_folder(tmp_path, name):
    (tmp_path / "data").mkdir()
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "d.arrow").write_bytes(b"")
    (tmp_path / "data" / "l.arrow").symlink_to(tmp_path / "private" / "d.arrow")
    (tmp_path / "data" / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    with pytest.raises(PipelineError, match="not in its folder"):
        run(ReadHf(str(tmp_path / "data")))
    (tmp_path / "data" / "state.json").unlink()
    (tmp_path / "data" / "dataset_dict.json").write_text(json.dumps({"splits": [name]}))
    with pytest.raises(PipelineError, match="not in its folder"):
        run(ReadHf(str(tmp_path / "data")))


@pytest.mark.parametrize("name", ["../private/d.arrow", "memory://bucket/private/d.arrow", "x/../../private/d.arrow"])
def test_a_dataset_in_a_bucket_cannot_name_files_outside_of_its_folder(name):
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/private/d.arrow", b"")
    memory.pipe("/bucket/data/state.json", json.dumps({"_data_files": [{"filename": name}]}).encode())
    try:
        with pytest.raises(PipelineError, match="not in its folder"):
            run(ReadHf("memory://bucket/data"))
        memory.pipe("/bucket/data/state.json", json.dumps({"_data_files": [{"filename": "sub/d.arrow"}]}).encode())
        memory.pipe("/bucket/data/sub/d.arrow", b"")
        assert [entry.path for entry in chosen_files("memory://bucket/data/", None)] == [
            "memory://bucket/data/sub/d.arrow"
        ]
    finally:
        memory.rm("/bucket", recursive=True)
