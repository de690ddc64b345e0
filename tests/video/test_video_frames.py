"""video.sample_frames: which frames, upright, as lists and as rows."""

import io
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError
from curator_image import WriteTar
from curator_video import Read, SampleFrames, SplitFixed, VideoBatch, VideoLimits
from curator_video.clip import Clip
from curator_video.decoding import Needed, decode_frames
from curator_video.frame_jpeg import decode_jpeg
from curator_video.frame_times import evenly_spaced, every_seconds
from curator_video.opening import open_video
from tests.support.made_videos import COLOURS, make_video


@pytest.fixture(scope="module")
def three_scenes(tmp_path_factory):
    """Scenes of one second each: red, green, blue; key frames are rare."""
    return make_video(tmp_path_factory.mktemp("frames") / "three.mp4", scenes=(12, 12, 12), gop=30)


def pixels(jpeg):
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB")).astype(int)


def scene_of(jpeg):
    corner = pixels(jpeg)[:4, -4:].mean(axis=(0, 1))
    return int(np.argmin([np.abs(corner - colour).sum() for colour in COLOURS]))


def sampled(path, **settings):
    result = Pipeline(stages=[Read(path), SampleFrames(**settings)]).run(LocalExecutor())
    return [row for batch in result for row in batch.data.to_pylist()]


def test_frames_are_the_middles_of_equal_parts(three_scenes):
    (row,) = sampled(three_scenes, count=3)
    assert row["frame_times_s"] == pytest.approx([0.5, 1.5, 2.5])
    assert [scene_of(each) for each in row["frames"]] == [0, 1, 2]
    assert pixels(row["frames"][0]).shape == (48, 64, 3)


def test_frames_at_every_so_many_seconds_begin_with_the_first(three_scenes):
    (row,) = sampled(three_scenes, every_s=0.8)
    assert row["frame_times_s"] == pytest.approx([0, 9 / 12, 19 / 12, 28 / 12], abs=0.01)
    assert [scene_of(each) for each in row["frames"]] == [0, 0, 1, 2]


def test_clips_give_their_own_frames(three_scenes):
    stages = [Read(three_scenes), SplitFixed(length_s=1, min_rest_s=0.5), SampleFrames(count=1)]
    rows = [row for batch in Pipeline(stages=stages).run(LocalExecutor()) for row in batch.data.to_pylist()]
    assert [scene_of(row["frames"][0]) for row in rows] == [0, 1, 2]
    assert [row["frame_times_s"][0] for row in rows] == pytest.approx([0.5, 1.5, 2.5])


@pytest.mark.parametrize("codec", ["libx264", "libvpx-vp9", "mpeg4"])
def test_a_frame_is_the_one_that_a_plain_loop_decodes(tmp_path, codec):
    import av

    options = {"bf": "3", "b-pyramid": "none"} if codec == "libx264" else {}
    path = make_video(tmp_path / "a.mkv", codec=codec, scenes=(20, 20, 20), gop=24, options=options)
    with av.open(path) as container:
        expected = {round(frame.time, 3): frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)}
    (row,) = sampled(path, count=7, quality=100)
    assert len(row["frames"]) == 7
    for time_s, jpeg in zip(row["frame_times_s"], row["frames"], strict=True):
        difference = np.abs(pixels(jpeg) - expected[round(time_s, 3)].astype(int)).mean()
        others = [np.abs(pixels(jpeg) - each.astype(int)).mean() for each in expected.values()]
        assert difference <= min(others) + 0.05


def test_a_clip_with_fewer_frames_gives_fewer(tmp_path):
    (row,) = sampled(make_video(tmp_path / "short.mp4", scenes=(3,)), count=10)
    assert row["frame_times_s"] == pytest.approx([0, 1 / 12, 2 / 12], abs=1e-3)


def test_frames_are_scaled_and_turned_upright(tmp_path):
    path = make_video(tmp_path / "phone.mp4", scenes=(6,), rotation=90)
    (row,) = sampled(path, count=1)
    assert (row["width"], row["height"], row["rotation"]) == (48, 64, 90)
    upright = pixels(row["frames"][0])
    assert upright.shape == (64, 48, 3)
    stored = make_video(tmp_path / "stored.mp4", scenes=(6,))
    (plain,) = sampled(stored, count=1)
    assert np.abs(np.rot90(pixels(plain["frames"][0])) - upright).mean() < 3
    (small,) = sampled(path, count=1, max_side=32)
    assert pixels(small["frames"][0]).shape == (32, 24, 3)


def test_one_row_per_frame_for_stages_that_take_images(three_scenes):
    rows = sampled(three_scenes, count=3, layout="rows")
    assert [row["frame_time_s"] for row in rows] == pytest.approx([0.5, 1.5, 2.5])
    assert [scene_of(row["bytes"]) for row in rows] == [0, 1, 2]
    assert {row["uri"] for row in rows} == {three_scenes}


def test_frames_of_several_clips_go_to_a_tar_archive_under_names_of_their_own(three_scenes, tmp_path):
    stages = [
        Read(three_scenes),
        SplitFixed(length_s=1),
        SampleFrames(count=2, layout="rows"),
        WriteTar(str(tmp_path / "out")),
    ]
    result = Pipeline(stages=stages).run(LocalExecutor())
    assert result.quarantined == []
    names = []
    for path in (tmp_path / "out").iterdir():
        with tarfile.open(path) as archive:
            names += [Path(name).name for name in archive.getnames() if name.endswith(".jpg")]
    stem = Path(three_scenes).stem
    assert sorted(names) == [f"{stem}-{1000 * clip:09}-{frame:05}.jpg" for clip in range(3) for frame in range(2)]


def test_a_row_without_a_file_has_no_frames():
    batch = VideoBatch(data={"uri": pa.array([None], pa.string())})
    assert SampleFrames(count=2).process(batch).data["frames"].to_pylist() == [None]
    assert SampleFrames(count=2, layout="rows").process(batch).data["bytes"].to_pylist() == [None]


def test_content_at_hand_is_used_instead_of_the_file(three_scenes):
    batch = VideoBatch(data={"uri": ["gone.mp4"], "content": [Path(three_scenes).read_bytes()]})
    row = SampleFrames(count=3, bytes_column="content").process(batch).data.to_pylist()[0]
    assert row["frames"] == sampled(three_scenes, count=3)[0]["frames"]
    read = [row for batch in Pipeline(stages=[Read(three_scenes, with_bytes=True)]).run(LocalExecutor())
            for row in batch.data.to_pylist()]  # fmt: skip
    assert read[0]["bytes"] == batch.data["content"][0].as_py()


def test_our_jpeg_decoder_agrees_with_pillow(three_scenes):
    (row,) = sampled(three_scenes, count=1)
    assert np.abs(decode_jpeg(row["frames"][0]).astype(int) - pixels(row["frames"][0])).mean() < 2


def test_settings_that_exclude_each_other_are_refused():
    for wrong in ({"count": 1, "every_s": 1}, {"count": 0}, {"every_s": 0}, {"quality": 0}, {"max_frames": 0}):
        with pytest.raises(ConfigError, match="sample_frames"):
            SampleFrames(**wrong)


@given(start=st.floats(0, 1000), duration=st.floats(0.01, 1000), count=st.integers(1, 50))
def test_times_lie_within_the_span(start, duration, count):
    for times in (
        evenly_spaced(start, start + duration, count),
        every_seconds(start, start + duration, duration / count),
    ):
        assert times == sorted(times)
        assert start - 1e-9 <= times[0]
        assert times[-1] < start + duration
    assert len(evenly_spaced(start, start + duration, count)) == count


def test_frames_skipped_for_one_wish_are_there_for_the_next(tmp_path):
    path = make_video(
        tmp_path / "b.mp4", codec="libx264", scenes=(36,), gop=36, options={"bf": "3", "b-pyramid": "none"}
    )
    with open_video(Clip(path), VideoLimits()) as video:
        skipping = decode_frames(video, needed=Needed(2.9))
        assert next(skipping).time_s < 2.5
        assert len(list(decode_frames(video))) == 36
