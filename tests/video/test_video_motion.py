"""video.motion_filter: by the codec's vectors and, without them, by differences."""

import math

import av
import numpy as np
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError
from curator_video import MotionFilter, Read, SplitScenes, VideoBatch
from curator_video.clip import Clip
from curator_video.limits import VideoLimits
from curator_video.motion import by_vectors
from curator_video.opening import open_video
from tests.support.made_videos import make_video

CODECS = {"h264.mp4": "libx264", "mpeg4.avi": "mpeg4", "mpeg2.mkv": "mpeg2video", "vp9.webm": "libvpx-vp9"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("motion")
    for name, codec in CODECS.items():
        options = {"deadline": "realtime", "cpu-used": "8"} if "vp9" in codec else {}
        rate = 25 if codec == "mpeg2video" else 12
        for moves in (True, False):
            target = path / f"{'moving' if moves else 'still'}-{name}"
            make_video(target, codec=codec, scenes=(24,), rate=rate, width=128, height=96, moves=moves, options=options)
    return path


def tagged(*paths, **settings):
    batch = VideoBatch(data={name: [str(path) for path in paths] for name in ("uri", "_source")})
    return MotionFilter(tag=True, **settings).process(batch).data.to_pylist()


@pytest.mark.parametrize("name", CODECS)
def test_what_moves_is_told_from_what_does_not(folder, name):
    moving, still = tagged(folder / f"moving-{name}", folder / f"still-{name}")
    assert (moving["motion_filter_reason"], still["motion_filter_reason"]) == (None, "static")
    assert still["motion_filter_score"] < 0.005
    assert moving["motion_filter_score"] > 0.01


def test_dropped_clips_are_counted_by_reason(folder):
    stages = [Read(str(folder / "*.mp4")), MotionFilter()]
    result = Pipeline(stages=stages).run(LocalExecutor())
    assert [batch.num_rows for batch in result] == [1]
    assert result.stats["video.motion_filter"].dropped == {"static": 1}
    result = Pipeline(stages=[Read(str(folder / "*.mp4")), MotionFilter(min_motion=0, max_motion=0.001)]).run(
        LocalExecutor()
    )
    assert result.stats["video.motion_filter"].dropped == {"too_much_motion": 1}


@pytest.mark.parametrize(
    ("codec", "options", "tolerance"),
    [
        ("libx264", {"preset": "medium"}, 0.1),
        ("libx264", {"bf": "0"}, 0.1),
        ("mpeg4", {"bf": "2"}, 0.1),
        ("mpeg2video", {"bf": "2"}, 0.2),
        ("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8"}, 0.5),  # has no vectors: pixels are compared
    ],
)
def test_a_pan_is_measured_as_what_it_is_with_and_without_frames_between(tmp_path, codec, options, tolerance):
    path = pan(tmp_path / "pan.mkv", codec, options)
    truth = 2 * 25 / math.hypot(160, 120)
    assert tagged(path)[0]["motion_filter_score"] == pytest.approx(truth, rel=tolerance)


def pan(path, codec, options):
    """A rough picture that moves to the left by two pixels a frame, 25 frames a second."""
    wide = np.random.default_rng(0).normal(0, 1, (120, 400))
    for axis in (0, 1):  # smooth, as pictures are: codecs look for what they can follow
        wide = sum(np.roll(wide, step, axis) for step in range(-4, 5))
    wide = np.clip(128 + 60 * wide / wide.std(), 0, 255).astype(np.uint8)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25, options=options)
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuv420p"
        for number in range(40):
            frame = av.VideoFrame.from_ndarray(wide[:, 2 * number : 2 * number + 160].copy(), format="gray")
            container.mux(stream.encode(frame.reformat(format="yuv420p")))
        container.mux(stream.encode())
    return str(path)


def test_a_video_of_key_frames_has_no_vectors_and_is_measured_by_pixels(tmp_path):
    path = make_video(tmp_path / "intra.mp4", codec="libx264", scenes=(12,), gop=1, width=128, height=96)
    clip = Clip(path)
    with open_video(clip, VideoLimits()) as video:
        assert by_vectors(video, clip, 250) is None
    assert tagged(path)[0]["motion_filter_score"] > 0.01


@pytest.mark.parametrize("name", ["h264.mp4", "vp9.webm"])
def test_motion_measured_with_the_scenes_is_that_of_the_clips(tmp_path, name):
    path = make_video(tmp_path / name, codec=CODECS[name], scenes=(18, 12, 24), width=128, height=96, gop=12)
    scenes = SplitScenes(motion_column="motion").process(
        VideoBatch(data={"uri": [path, None], "_source": [path, path]})
    )
    alone = MotionFilter(tag=True).process(scenes.with_data(scenes.data.drop_columns(["motion"])))
    expected = alone.data["motion_filter_score"].to_pylist()
    found = scenes.data["motion"].to_pylist()
    assert (found[3:], expected[3:]) == ([None], [None])
    assert found[:3] == pytest.approx(expected[:3], rel=1e-6)
    gone = scenes.with_column("uri", ["gone.mp4"] * 3 + [None])  # nothing is decoded again
    tagged = MotionFilter(tag=True, motion_column="motion").process(gone)
    assert tagged.data["motion_filter_score"].to_pylist() == found


def test_motion_that_was_not_measured_with_the_scenes_is_measured_later(tmp_path):
    path = make_video(tmp_path / "intra.mp4", codec="libx264", scenes=(12, 12), gop=1, width=128, height=96)
    scenes = SplitScenes(motion_column="motion", detector="content").process(
        VideoBatch(data={"uri": [path], "_source": [path]})
    )
    assert scenes.data["motion"].to_pylist() == [None, None]
    tagged = MotionFilter(tag=True, motion_column="motion").process(scenes)
    assert all(each > 0.01 for each in tagged.data["motion_filter_score"].to_pylist())


def test_one_frame_stands_still(tmp_path):
    path = make_video(tmp_path / "one.mp4", scenes=(1,))
    assert tagged(path)[0]["motion_filter_score"] == 0


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="min_motion=2 is more than max_motion=1"):
        MotionFilter(min_motion=2, max_motion=1)
    with pytest.raises(ConfigError, match="max_frames"):
        MotionFilter(max_frames=1)
