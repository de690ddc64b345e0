"""video.write_clips: files that decode completely, are as long as their spans, and are the same when repeated."""

import json
import os
from pathlib import Path

import av
import pyarrow.parquet as pq
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.files.faults import hooked
from curator_core.values.errors import ConfigError, OutputError
from curator_video import Read, SampleFrames, SplitFixed, SplitScenes, VideoBatch, WriteClips
from tests.support.made_videos import decoded, make_video


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Three scenes of a second each, a key frame at each second, with sound."""
    return make_video(tmp_path_factory.mktemp("source") / "a.mkv", scenes=(12, 12, 12), gop=12, sound=True)


def written(path, *stages, out, **settings):
    result = Pipeline(stages=[Read(path), *stages, WriteClips(str(out), **settings)]).run(LocalExecutor())
    rows = [json.loads(line) for file in sorted(out.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return result, rows


def check(rows, out, rate=12):
    """Every clip decodes, has the frames that the manifest says, and lasts as long as its span, within one frame."""
    for row in rows:
        frames = decoded(out / row["clip_file"])
        assert len(frames) == row["clip_frames"]
        assert frames[0][0] == pytest.approx(0, abs=0.002)
        lasts = frames[-1][0] - frames[0][0] + 1 / rate
        assert lasts == pytest.approx(row["end_s"] - row["start_s"], abs=1 / rate)
        assert (out / row["clip_file"]).stat().st_size == row["clip_bytes"]


def test_clips_between_key_frames_are_copied(source, tmp_path):
    result, rows = written(source, SplitFixed(length_s=1, min_rest_s=0.5), out=tmp_path / "out")
    assert [(row["is_copy"], row["clip_codec"], row["clip_frames"]) for row in rows] == [(True, "mpeg4", 12)] * 3
    check(rows, tmp_path / "out")
    assert all((tmp_path / "out" / row["clip_file"]).suffix == ".mp4" for row in rows)
    listed = {path for task in result for path in task.paths}
    assert listed == {str(path) for path in (tmp_path / "out").iterdir()}
    assert sum(task.meta["rows"] for task in result) == 3


def test_copied_frames_and_sound_are_those_of_the_source(source, tmp_path):
    _, rows = written(source, SplitFixed(length_s=1, min_rest_s=0.5), out=tmp_path / "out")
    expected = decoded(source)
    for number, row in enumerate(rows):
        path = tmp_path / "out" / row["clip_file"]
        for (_, mean), (_, wanted) in zip(decoded(path), expected[12 * number : 12 * number + 12], strict=True):
            assert mean == pytest.approx(wanted, abs=0.01)
        with av.open(str(path)) as container:
            seconds = sum(frame.samples for frame in container.decode(audio=0)) / 48_000
        assert seconds == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("codec", ["vp9", "av1"])
def test_clips_between_other_frames_are_encoded(source, tmp_path, codec):
    _, rows = written(source, SplitFixed(length_s=1.25, min_rest_s=0.25), out=tmp_path / "out", codec=codec)
    assert [(row["is_copy"], row["clip_codec"]) for row in rows] == [(True, "mpeg4"), (False, codec), (False, codec)]
    check(rows, tmp_path / "out")
    assert sum(row["clip_frames"] for row in rows) == 36
    with av.open(str(tmp_path / "out" / rows[1]["clip_file"])) as container:
        assert container.format.name == "matroska,webm"
        assert container.streams.audio[0].codec_context.name == "opus"


def test_frames_that_depend_on_later_ones_are_not_cut_off(tmp_path):
    path = make_video(
        tmp_path / "b.mp4", codec="libx264", scenes=(24, 24), gop=48, options={"bf": "3", "sc_threshold": "0"}
    )
    _, rows = written(path, SplitFixed(length_s=2.5, min_rest_s=0.5), out=tmp_path / "out")
    check(rows, tmp_path / "out")
    assert sum(row["clip_frames"] for row in rows) == 48


def test_the_source_is_covered_by_its_scenes(tmp_path):
    path = make_video(tmp_path / "scenes.mp4", scenes=(18, 12, 24))
    _, rows = written(path, SplitScenes(), out=tmp_path / "out")
    assert [row["clip_frames"] for row in rows] == [18, 12, 24]
    check(rows, tmp_path / "out")


def test_a_repeated_run_writes_the_same_bytes(source, tmp_path):
    files = []
    for name in ("one", "two"):
        written(source, SplitFixed(length_s=0.8, min_rest_s=0.1), out=tmp_path / name)
        files.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert files[0] == files[1]
    assert len(files[0]) == 5


def test_turned_videos_stay_upright(tmp_path):
    path = make_video(tmp_path / "phone.mp4", scenes=(12, 12), gop=12, rotation=90)
    for mode in ("copy", "encode"):
        _, (first, _) = written(path, SplitFixed(length_s=1, min_rest_s=0.5), out=tmp_path / mode, mode=mode)
        again = Pipeline(stages=[Read(str(tmp_path / mode / first["clip_file"]))]).run(LocalExecutor())
        assert (again[0].data["width"].to_pylist(), again[0].data["height"].to_pylist()) == ([48], [64])


def test_the_times_of_a_variable_frame_rate_stay(tmp_path):
    times = [0, 100, 200, 500, 550, 600, 1000, 1800]
    path = make_video(
        tmp_path / "v.mkv", scenes=(8,), times=times, codec="libvpx-vp9", options={"deadline": "realtime"}
    )
    _, (row,) = written(path, out=tmp_path / "out", mode="encode")
    assert [time_s for time_s, _ in decoded(tmp_path / "out" / row["clip_file"])] == pytest.approx(
        [each / 1000 for each in times], abs=0.002
    )


def test_the_manifest_has_the_columns_but_no_pictures(source, tmp_path):
    stages = [Read(source), SampleFrames(count=2), WriteClips(str(tmp_path / "out"), manifest="parquet")]
    Pipeline(stages=stages).run(LocalExecutor())
    (path,) = (tmp_path / "out").glob("*.parquet")
    table = pq.read_table(path)
    assert {"uri", "start_s", "end_s", "fps", "clip_id", "clip_file", "frame_times_s"} <= set(table.column_names)
    assert not {"frames", "_source", "_row"} & set(table.column_names)
    assert (tmp_path / "out" / table["clip_file"][0].as_py()).name.split(".")[1] == table["clip_id"][0].as_py()


def test_a_clip_that_must_be_copied_and_cannot_is_quarantined(source, tmp_path):
    result, rows = written(source, SplitFixed(length_s=1.5, min_rest_s=0.5), out=tmp_path / "out", mode="copy")
    assert [row["start_s"] for row in rows] == [0]
    assert [(record.error_type, record.source) for record in result.quarantined] == [("UnreadableVideo", source)]
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_a_damaged_clip_leaves_no_file(source, tmp_path):
    damaged = bytearray(Path(source).read_bytes())
    middle = len(damaged) // 2
    path = tmp_path / "damaged.mkv"
    path.write_bytes(damaged[:middle])
    result, rows = written(str(path), SplitFixed(length_s=9), out=tmp_path / "out", mode="encode")
    assert (rows, len(result.quarantined)) == ([], 1)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_full_disk_ends_the_run_and_leaves_nothing_torn(source, tmp_path):
    def full(point):
        if point == "commit.half_written":
            raise OSError(28, "No space left on device")

    stage = WriteClips(str(tmp_path))
    with hooked(full), pytest.raises(OutputError, match="No space left"):
        stage.process(VideoBatch(data={"uri": [source], "_source": [source]}, task_id="3f2a/0"))
    assert list(tmp_path.iterdir()) == []


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="crf"):
        WriteClips("out", crf=64)


def test_a_truncated_video_is_not_copied(tmp_path):
    whole = make_video(tmp_path / "whole.mkv", scenes=(24, 24), gop=12)
    path = tmp_path / "cut.mkv"
    path.write_bytes(Path(whole).read_bytes()[: Path(whole).stat().st_size // 3])
    batch = VideoBatch(
        data={"uri": [str(path)], "_source": [str(path)], "start_s": [0.0], "end_s": [4.0]}, task_id="3f2a/0"
    )
    result = Pipeline(stages=[WriteClips(str(tmp_path / "out"))]).run(LocalExecutor(), initial_tasks=[batch])
    assert (len(result), len(result.quarantined)) == (0, 1)
    assert list((tmp_path / "out").iterdir()) == []


def test_sound_that_is_stored_behind_the_pictures_is_copied_too(tmp_path):
    path = make_video(
        tmp_path / "late.mkv", scenes=(24,), gop=12, sound=True, container_options={"max_interleave_delta": "1"}
    )
    _, rows = written(path, SplitFixed(length_s=1, min_rest_s=0.5), out=tmp_path / "out", mode="copy")
    assert len(rows) == 2
    for row in rows:
        with av.open(str(tmp_path / "out" / row["clip_file"])) as container:
            seconds = sum(frame.samples for frame in container.decode(audio=0)) / 48_000
        assert seconds == pytest.approx(1, abs=0.05)


@pytest.mark.skipif(not hasattr(os, "sched_getscheduler"), reason="this system has no scheduling policies")
@pytest.mark.parametrize("codec", ["vp9", "av1"])
def test_encoding_leaves_the_worker_as_urgent_as_it_was(source, tmp_path, codec):
    before = os.sched_getscheduler(0)
    written(source, SplitFixed(length_s=1.25), out=tmp_path / "out", mode="encode", codec=codec)
    assert os.sched_getscheduler(0) == before
