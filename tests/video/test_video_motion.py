"""video.motion_filter: by the codec's vectors and, without them, by differences."""

import pytest
from made_videos import make_video

from curator_core import LocalExecutor, Pipeline
from curator_core.errors import ConfigError
from curator_video import MotionFilter, Read, SplitScenes, VideoBatch
from curator_video.clip import Clip
from curator_video.limits import VideoLimits
from curator_video.motion import by_differences, by_vectors
from curator_video.opening import open_video

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


def test_both_measures_have_one_scale(folder):
    clip = Clip(str(folder / "moving-h264.mp4"))
    with open_video(clip, VideoLimits()) as video:
        vectors = by_vectors(video, clip, 250)
    with open_video(clip, VideoLimits()) as video:
        differences = by_differences(video, clip, 250)
    assert vectors / 5 < differences < vectors * 5


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
    tagged = MotionFilter(tag=True, motion_field="motion").process(gone)
    assert tagged.data["motion_filter_score"].to_pylist() == found


def test_motion_that_was_not_measured_with_the_scenes_is_measured_later(tmp_path):
    path = make_video(tmp_path / "intra.mp4", codec="libx264", scenes=(12, 12), gop=1, width=128, height=96)
    scenes = SplitScenes(motion_column="motion", detector="content").process(
        VideoBatch(data={"uri": [path], "_source": [path]})
    )
    assert scenes.data["motion"].to_pylist() == [None, None]
    tagged = MotionFilter(tag=True, motion_field="motion").process(scenes)
    assert all(each > 0.01 for each in tagged.data["motion_filter_score"].to_pylist())


def test_one_frame_stands_still(tmp_path):
    path = make_video(tmp_path / "one.mp4", scenes=(1,))
    assert tagged(path)[0]["motion_filter_score"] == 0


def test_impossible_settings_are_refused():
    with pytest.raises(ConfigError, match="min_motion=2 is more than max_motion=1"):
        MotionFilter(min_motion=2, max_motion=1)
    with pytest.raises(ConfigError, match="max_frames"):
        MotionFilter(max_frames=1)
