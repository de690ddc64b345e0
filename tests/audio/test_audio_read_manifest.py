"""audio.read_manifest: lines that name files, and what becomes of those that name none."""

import json

import fsspec
import pytest

from curator_audio import AudioBatch, ReadManifest, SilenceFilter
from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import PipelineError
from tests.support.recordings import decoded, encoded, tone


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "clips").mkdir()
    (tmp_path / "clips" / "a.wav").write_bytes(encoded(tone(1)))
    (tmp_path / "clips" / "b.flac").write_bytes(encoded(tone(2, 8_000, 2), 8_000, "flac"))
    return tmp_path


def write(folder, *lines, name="train.jsonl"):
    path = folder / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(path)


def read(*args, **kwargs):
    result = Pipeline(stages=[ReadManifest(*args, **kwargs)]).run(LocalExecutor())
    assert all(isinstance(batch, AudioBatch) for batch in result)
    return result, [row for batch in result for row in batch.data.to_pylist()]


def test_lines_become_rows(corpus):
    whole = str(corpus / "clips" / "b.flac")
    manifest = write(
        corpus,
        {"audio_filepath": "clips/a.wav", "duration": 1.02, "text": "one", "speaker": 7},
        {"audio_filepath": whole, "duration": 0.5, "offset": 1, "text": "two", "speaker": 8},
        {"audio_filepath": "./clips/../clips/b.flac", "duration": 2, "text": None, "speaker": 9},
    )
    result, rows = read(manifest)
    assert not result.quarantined
    assert [row["uri"] for row in rows] == [str(corpus / "clips" / "a.wav"), whole, whole]
    assert [(row["offset_s"], row["duration_s"]) for row in rows] == [(None, 1.0), (1.0, 0.5), (None, 2.0)]
    assert [(row["sample_rate"], row["channels"], row["format"]) for row in rows] == [
        (16_000, 1, "WAV"),
        (8_000, 2, "FLAC"),
        (8_000, 2, "FLAC"),
    ]
    assert [(row["text"], row["speaker"]) for row in rows] == [("one", 7), ("two", 8), (None, 9)]
    assert not {"audio_filepath", "duration", "offset"} & set(rows[0])
    assert {row["_source"] for row in rows} == {manifest}


def test_with_bytes_whole_files_are_untouched_and_parts_are_cut(corpus):
    manifest = write(
        corpus,
        {"audio_filepath": "clips/a.wav"},
        {"audio_filepath": "clips/b.flac", "offset": 0.5, "duration": 0.25},
        {"audio_filepath": "clips/b.flac", "offset": 1.5},
    )
    _, rows = read(manifest, with_bytes=True)
    assert rows[0]["bytes"] == (corpus / "clips" / "a.wav").read_bytes()
    samples, rate = decoded(rows[1]["bytes"])
    whole, _ = decoded((corpus / "clips" / "b.flac").read_bytes())
    assert rate == 8_000
    assert (samples == whole[4_000:6_000]).all()
    assert len(decoded(rows[2]["bytes"])[0]) == 4_000
    assert [row["size_bytes"] for row in rows] == [len(row["bytes"]) for row in rows]


def test_bad_lines_are_quarantined_with_their_place(corpus):
    (corpus / "notes.wav").write_text("no sound")
    good = {"audio_filepath": "clips/a.wav", "duration": 1.0}
    bad = {
        "no such": {"audio_filepath": "missing.wav", "duration": 1.0},
        "cannot be opened as audio": {"audio_filepath": "notes.wav"},
        "not inside the 1 s": {"audio_filepath": "clips/a.wav", "offset": 0.5, "duration": 3.0},
        "no 'audio_filepath'": {"text": "nothing"},
        "is not opened": {"audio_filepath": "http://example.org/a.wav"},
        "folder": {"audio_filepath": "clips"},
    }
    manifest = write(corpus, good, *bad.values(), good)
    result, rows = read(manifest)
    assert len(rows) == 2
    messages = [record.message for record in result.quarantined]
    assert len(messages) == len(bad)
    for expected, message in zip(bad, messages, strict=True):
        assert expected in message.lower() or expected in message
    offsets = [len(json.dumps(good)) + 1]
    for line in bad.values():
        offsets.append(offsets[-1] + len(json.dumps(line)) + 1)
    assert [(record.source, record.row) for record in result.quarantined] == [
        (manifest, offset) for offset in offsets[:-1]
    ]


def test_durations_of_odd_types(corpus):
    manifest = write(
        corpus,
        {"audio_filepath": "clips/b.flac", "offset": "0.5", "duration": "1"},
        {"audio_filepath": "clips/b.flac", "offset": "later", "duration": "1"},
    )
    result, rows = read(manifest)
    assert [(row["offset_s"], row["duration_s"]) for row in rows] == [(0.5, 1.0)]
    assert "'offset' is 'later'" in result.quarantined[0].message


def test_tables_hold_no_more_than_asked_for(corpus):
    manifest = write(corpus, *[{"audio_filepath": "clips/a.wav", "n": number} for number in range(7)])
    size = (corpus / "clips" / "a.wav").stat().st_size
    result, rows = read(manifest, with_bytes=True, batch_bytes=2 * size)
    assert [batch.num_rows for batch in result] == [2, 2, 2, 1]
    assert [row["n"] for row in rows] == list(range(7))
    result, rows = read(manifest, with_bytes=True, max_file_bytes=size - 1)
    assert not rows
    assert "max_file_bytes" in result.quarantined[0].message


def test_references_are_enough_for_a_filter(corpus):
    (corpus / "clips" / "c.wav").write_bytes(encoded(tone(1)))
    manifest = write(corpus, {"audio_filepath": "clips/c.wav", "offset": 0.25, "duration": 0.5})
    stages = [ReadManifest(manifest), SilenceFilter(bytes_column=None)]
    (batch,) = Pipeline(stages=stages).run(LocalExecutor())
    assert batch.data["silence_fraction"].to_pylist() == [0.0]


def test_manifests_of_any_filesystem():
    memory = fsspec.filesystem("memory")
    memory.pipe("/speech/clips/a.wav", encoded(tone(1)))
    memory.pipe("/speech/train.jsonl", json.dumps({"audio_filepath": "clips/a.wav"}).encode())
    try:
        _, rows = read("memory://speech/train.jsonl", with_bytes=True)
        assert (rows[0]["uri"], rows[0]["duration_s"]) == ("memory://speech/clips/a.wav", 1.0)
    finally:
        memory.rm("/speech", recursive=True)


def test_other_keys_and_a_missing_manifest(corpus, tmp_path):
    manifest = write(corpus, {"path": "clips/b.flac", "start": 1.0, "length": 0.5})
    _, rows = read(manifest, path_column="path", offset_column="start", duration_column="length")
    assert (rows[0]["offset_s"], rows[0]["duration_s"]) == (1.0, 0.5)
    with pytest.raises(PipelineError, match="audio_filepath"):
        Pipeline(stages=[ReadManifest(manifest)]).build()
    with pytest.raises(PipelineError, match="does not exist"):
        Pipeline(stages=[ReadManifest(str(tmp_path / "none.jsonl"))]).build()
