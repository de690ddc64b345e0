"""The recipes for audio, run on a few recordings whose fate is known."""

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from curator_core.cli import main
from tests.support.golden import check_golden
from tests.support.recordings import babble, encoded, silence, tone
from tests.support.tiny_models import ctc_model

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(recipe, capsys, **variables):
    settings = [part for name, value in variables.items() for part in ("--set", f"{name}={value}")]
    status = main(["run", str(EXAMPLES / recipe / "pipeline.yaml"), "--executor", "local", "--json", *settings])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


@pytest.fixture
def recordings(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    talk = np.concatenate([silence(0.5), babble(2.5, 16_000), silence(1.0), babble(2.0, seed=3), silence(0.5)])
    (folder / "talk.wav").write_bytes(encoded(talk))
    (folder / "tone.flac").write_bytes(encoded(tone(2), extension="flac"))
    (folder / "empty.wav").write_bytes(encoded(silence(3, level=1e-5)))
    return folder


def test_audio_segments(recordings, tmp_path, capsys):
    report = run("audio-segments", capsys, INPUT=recordings, OUTPUT=tmp_path / "out", MIN_QUALITY=1)
    assert report["quarantined"] == 0
    check_golden("audio-segments", tmp_path / "out")
    (shard,) = (tmp_path / "out").glob("*.tar")
    with tarfile.open(shard) as archive:
        names = [name for name in archive.getnames() if name.endswith(".flac")]
    assert len(names) == 2
    assert all("talk-0000" in name for name in names)


def test_audio_check_transcripts(recordings, tmp_path, capsys):
    model = ctc_model(tmp_path / "model")
    lines = [{"audio_filepath": name, "text": "hello there"} for name in ("talk.wav", "tone.flac")]
    (recordings / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = run(
        "audio-check-transcripts",
        capsys,
        INPUT=recordings / "train.jsonl",
        OUTPUT=tmp_path / "out",
        MODEL=model,
        MAX_WER=9,
    )
    assert report["quarantined"] == 0
    check_golden("audio-check-transcripts", tmp_path / "out", without=["transcript", "wer"])
    (manifest,) = (tmp_path / "out").glob("*.jsonl")
    (line,) = [json.loads(each) for each in manifest.read_text().splitlines()]
    assert line["audio_filepath"] == str(recordings / "talk.wav")
    assert line["text"] == "hello there"
    assert line["transcript"]
    assert 0.3 <= line["speech_fraction"] <= 1
