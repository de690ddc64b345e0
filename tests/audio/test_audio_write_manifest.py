"""audio.write_manifest: what is written is read back, once, whatever was there before."""

import json

import pytest

from curator_audio import ReadFolder, ReadManifest, Vad, WriteManifest
from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import PipelineError
from tests.support.recordings import FORMATS, batch_of, encoded, tone


def lines_of(folder):
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_files_and_manifest_are_read_back(tmp_path):
    out = tmp_path / "out"
    contents = [encoded(tone(0.5), extension=extension) for extension in FORMATS]
    table = {"text": ["one", "two", None, "four", "five"], "score": [1.5, None, 2.0, 3.0, 4.0], "thumbnail": [b"x"] * 5}
    result, _ = _write(WriteManifest(str(out)), batch_of(*contents, **table))
    assert [path.rpartition("/")[2] for path in result[0].paths] == [
        "part-0.jsonl",
        "part-0.000000.wav",
        "part-0.000001.flac",
        "part-0.000002.ogg",
        "part-0.000003.ogg",
        "part-0.000004.mp3",
    ]
    assert (result[0].meta["rows"], sorted(each.name for each in out.iterdir())) == (
        5,
        sorted(path.rpartition("/")[2] for path in result[0].paths),
    )
    assert lines_of(out)[0] == {
        "audio_filepath": "part-0.000000.wav",
        "duration": 0.5,
        "text": "one",
        "score": 1.5,
    }
    again = Pipeline(stages=[ReadManifest(str(out / "*.jsonl"), with_bytes=True)]).run(LocalExecutor())
    rows = [row for batch in again for row in batch.data.to_pylist()]
    assert [row["bytes"] for row in rows] == contents
    assert [row["text"] for row in rows] == table["text"]


def _write(stage, *batches):
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=list(batches))
    return result, None


def test_references_name_the_files_where_they_are(tmp_path, monkeypatch):
    (tmp_path / "a.wav").write_bytes(encoded(tone(2)))
    monkeypatch.chdir(tmp_path)
    batch = batch_of(
        None,
        None,
        None,
        uri=["a.wav", str(tmp_path / "a.wav"), None],
        offset_s=[None, 0.5, None],
        duration_s=[None, 1.0, None],
    )
    result, _ = _write(WriteManifest("out", audio="references", keep_provenance=True), batch)
    path = str(tmp_path / "a.wav")
    assert lines_of(tmp_path / "out") == [
        {"audio_filepath": path, "duration": 2.0, "_source": "0.bin", "_row": 0},
        {"audio_filepath": path, "duration": 1.0, "offset": 0.5, "_source": "1.bin", "_row": 0},
    ]
    assert [record.message for record in result.quarantined] == ["the row names no file"]


def test_rows_without_sound_are_quarantined(tmp_path):
    result, _ = _write(WriteManifest(str(tmp_path)), batch_of(None, b"junk", encoded(tone(0.1)), text=["a", "b", "c"]))
    assert [line["text"] for line in lines_of(tmp_path)] == ["c"]
    assert [record.source for record in result.quarantined] == ["0.bin", "1.bin"]
    result, _ = _write(WriteManifest(str(tmp_path / "none")), batch_of(None))
    assert not result.outputs if hasattr(result, "outputs") else not list(result)


def test_a_repeated_run_writes_the_same_files(tmp_path):
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for number in range(4):
        (source / f"{number}.flac").write_bytes(encoded(tone(0.2, seed=number), extension="flac"))
    stages = [ReadFolder(str(source), with_bytes=True, block_bytes=9_000), WriteManifest(str(out))]
    Pipeline(stages=stages).run(LocalExecutor())
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert len(before) > 5
    Pipeline(stages=stages).run(LocalExecutor(threads=2))
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_resumed_run_clears_away_what_changed_input_left(tmp_path):
    source, out, state = tmp_path / "in", tmp_path / "out", tmp_path / "run"
    source.mkdir()
    (source / "a.wav").write_bytes(encoded(tone(0.2)))
    pipeline = Pipeline(stages=[ReadFolder(str(source), with_bytes=True), WriteManifest(str(out))])
    pipeline.run(LocalExecutor(), run_dir=str(state))
    (source / "a.wav").write_bytes(encoded(tone(0.4)))
    pipeline.run(LocalExecutor(), run_dir=str(state), resume="changed")
    assert [line["duration"] for line in lines_of(out)] == [0.4]
    assert len(list(out.iterdir())) == 2


def test_columns_are_checked_before_the_run(tmp_path):
    (tmp_path / "a.wav").write_bytes(encoded(tone(0.2)))
    with pytest.raises(PipelineError, match="bytes"):
        Pipeline(stages=[ReadFolder(str(tmp_path)), WriteManifest(str(tmp_path / "out"))]).build()
    with pytest.raises(PipelineError, match="bytes"):
        Pipeline(stages=[ReadFolder(str(tmp_path)), Vad()]).build()
