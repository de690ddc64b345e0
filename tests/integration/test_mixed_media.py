"""Pipelines that mix modalities: the two recipes, on made data whose fate is known, on one executor and the other."""

import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
import soxr

from curator_core.cli import main
from tests.support.captioned_pictures import make_shards
from tests.support.golden import check_golden
from tests.support.spoken import speak
from tests.support.talking_video import RATE, make_talking_video

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(recipe, executor, capsys, **variables):
    settings = [part for name, value in variables.items() for part in ("--set", f"{name}={value}")]
    status = main(["run", str(EXAMPLES / recipe / "pipeline.yaml"), "--executor", executor, "--json", *settings])
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return json.loads(captured.out)


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    """A video of four scenes: moving and talking, still and talking, moving to a tone, moving in silence."""
    samples, rate = speak("We are going to the park, and the weather is nice. One, two, three, four, five.")
    speech = soxr.resample(samples, rate, RATE)
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(3 * RATE) / RATE).astype(np.float32)
    folder = tmp_path_factory.mktemp("talk")
    scenes = [(speech, True), (speech, False), (tone, True), (np.zeros(3 * RATE, np.float32), True)]
    make_talking_video(folder / "talk.mp4", scenes)
    return folder, len(speech) / RATE


def test_of_a_video_the_moving_and_talking_scene_is_left(talk, tmp_path, capsys, ray_session):
    folder, seconds = talk
    outputs = {}
    for executor in ("local", "streaming"):
        target = tmp_path / executor
        report = run("talking-clips", executor, capsys, INPUT=folder, OUTPUT=target)
        rows = {stage["name"]: stage["rows_out"] for stage in report["stages"]}
        assert rows["video.split_scenes"] == 4
        assert rows["video.motion_filter"] == 3
        assert rows["audio.vad"] == 1
        outputs[executor] = files(target)
    assert outputs["local"] == outputs["streaming"]
    check_golden("talking-clips", tmp_path / "local", without=["uri", "transcript"])
    (manifest,) = [json.loads(data) for name, data in outputs["local"].items() if name.endswith(".jsonl")]
    assert manifest["start_s"] == 0
    assert manifest["end_s"] == pytest.approx(seconds, abs=0.1)
    assert len(manifest["transcript"].split()) >= 3
    assert len(outputs["local"]) == 2  # the clip and the manifest


def test_of_captioned_images_one_of_each_good_one_is_left_byte_for_byte(tmp_path, capsys, ray_session):
    (tmp_path / "shards").mkdir()
    expected, pictures = make_shards(tmp_path / "shards")
    outputs = {}
    for executor in ("local", "streaming"):
        folders = {name: tmp_path / f"{executor}-{name}" for name in ("WORK", "OUTPUT")}
        report = run("captioned-images", executor, capsys, INPUT=tmp_path / "shards", **folders)
        stages = {stage["name"]: stage for stage in report["steps"]["select"]["stages"]}
        assert stages["text.language_id"]["dropped"] == {"other_language": 1}
        assert stages["text.word_count"]["dropped"] == {"too_few_words": 1}
        assert stages["image.size_filter"]["rows_out"] == 5
        assert stages["image.quality_filter"]["rows_out"] == 4
        assert report["steps"]["unique"]["removed"] == 1
        outputs[executor] = list(files(folders["OUTPUT"]).values())  # they are named after what was read: work files
    assert outputs["local"] == outputs["streaming"]
    check_golden("captioned-images", tmp_path / "local-OUTPUT")
    left = {}
    for data in outputs["local"]:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            left |= {member.name: archive.extractfile(member).read() for member in archive}
    found = {name.rpartition(".")[0]: data for name, data in left.items() if not name.endswith((".txt", ".json"))}
    assert found == {key: pictures[key] for key in expected}
    assert left["holiday/c.txt"] == b"An old wooden bridge over the river"
