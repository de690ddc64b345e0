"""video.split_fixed and video.split_scenes: where clips begin and end."""

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError
from curator_video import Read, SplitFixed, SplitScenes, VideoBatch
from curator_video.spans import fixed_spans
from tests.support.made_videos import make_video


@pytest.fixture(scope="module")
def cuts(tmp_path_factory):
    """A video whose scenes begin at 0, 1.5 and 2.5 s, until 4.5 s."""
    return make_video(tmp_path_factory.mktemp("cuts") / "cuts.mp4", scenes=(18, 12, 24))


def rows(stages):
    result = Pipeline(stages=stages).run(LocalExecutor())
    return [row for batch in result for row in batch.data.to_pylist()]


def spans(found):
    return [tuple(None if each is None else round(each, 6) for each in (row["start_s"], row["end_s"])) for row in found]


def test_fixed_clips_cover_the_source(cuts):
    found = rows([Read(cuts), SplitFixed(length_s=2, min_rest_s=0.25)])
    assert spans(found) == [(0, 2), (2, 4), (4, 4.5)]
    assert [row["duration_s"] for row in found] == [2, 2, 0.5]
    assert [row["num_frames"] for row in found] == [24, 24, 6]
    assert len({row["clip_id"] for row in found}) == 3
    assert {row["uri"] for row in found} == {cuts}
    assert found == rows([Read(cuts), SplitFixed(length_s=2, min_rest_s=0.25)])


def test_a_short_rest_is_joined_or_dropped(cuts):
    assert spans(rows([Read(cuts), SplitFixed(length_s=2)])) == [(0, 2), (2, 4.5)]
    assert spans(rows([Read(cuts), SplitFixed(length_s=2, rest="drop")])) == [(0, 2), (2, 4)]
    result = Pipeline(stages=[Read(cuts), SplitFixed(length_s=9, min_rest_s=5, rest="drop")]).run(LocalExecutor())
    assert (len(result), result.stats["video.split_fixed"].dropped) == (0, {"too_short": 1})


def test_clips_may_overlap_or_leave_gaps(cuts):
    assert spans(rows([Read(cuts), SplitFixed(length_s=2, stride_s=1, min_rest_s=1)])) == [
        (0, 2), (1, 3), (2, 4), (3, 4.5),
    ]  # fmt: skip
    assert spans(rows([Read(cuts), SplitFixed(length_s=1, stride_s=3, min_rest_s=0)])) == [(0, 1), (3, 4)]


def test_a_clip_can_be_split_again(cuts):
    again = SplitFixed(length_s=1, min_rest_s=0).with_(name="again")
    found = rows([Read(cuts), SplitFixed(length_s=2, min_rest_s=0), again])
    assert spans(found) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4.5)]


def test_a_file_that_does_not_say_its_duration_is_measured(cuts):
    batch = VideoBatch(data={"uri": [cuts, None], "_source": [cuts, cuts]})
    clips = SplitFixed(length_s=3, min_rest_s=1).process(batch).data.to_pylist()
    assert spans(clips) == [(0, 3), (3, 4.5), (None, None)]


@given(
    start=st.floats(0, 100),
    duration=st.floats(0.01, 500),
    length=st.floats(0.5, 100),
    rest=st.floats(0, 10),
)
def test_fixed_spans_cover_without_gap_or_overlap(start, duration, length, rest):
    found = fixed_spans(start, start + duration, length_s=length, stride_s=length, min_rest_s=rest, keep_rest=True)
    assert (found[0].start_s, found[-1].end_s) == (start, start + duration)
    assert all(one.end_s == pytest.approx(two.start_s, abs=1e-6) for one, two in pairwise(found))
    assert all(one.end_s - one.start_s == pytest.approx(length, abs=1e-5) for one in found[:-1])
    assert len(found) == 1 or found[-1].end_s - found[-1].start_s >= min(rest, length) - 1e-5


@pytest.mark.parametrize("detector", ["adaptive", "content"])
def test_scenes_begin_at_hard_cuts(cuts, detector):
    found = rows([Read(cuts), SplitScenes(detector=detector)])
    assert spans(found) == [(0, 1.5), (1.5, 2.5), (2.5, 4.5)]
    assert [row["num_frames"] for row in found] == [18, 12, 24]
    assert sum(row["duration_s"] for row in found) == pytest.approx(4.5)


def test_fades_are_found_by_their_own_detector(tmp_path):
    path = make_video(tmp_path / "dark.mp4", scenes=(24, 24))
    assert len(rows([Read(path), SplitScenes(detector="threshold")])) == 1


def test_scenes_are_found_within_a_clip(cuts):
    found = rows([Read(cuts), SplitFixed(length_s=2, min_rest_s=0.5), SplitScenes(min_scene_s=0.2)])
    assert spans(found) == [(0, 1.5), (1.5, 2), (2, 2.5), (2.5, 4), (4, 4.5)]


def test_scenes_have_the_times_of_a_variable_frame_rate(tmp_path):
    times = [*range(0, 1000, 100), *range(1000, 3000, 50), *range(3000, 6000, 300)]
    path = make_video(
        tmp_path / "variable.mkv",
        codec="libvpx-vp9",
        scenes=(10, 40, 10),
        times=times,
        options={"deadline": "realtime"},
    )
    found = rows([Read(path), SplitScenes(detector="content")])
    assert [row["start_s"] for row in found] == pytest.approx([0, 1, 3])
    assert found[-1]["end_s"] == pytest.approx(6, abs=0.3)


def test_impossible_settings_are_refused():
    for wrong in ({"length_s": 0}, {"stride_s": -1}, {"min_rest_s": -1}):
        with pytest.raises(ConfigError, match="split_fixed"):
            SplitFixed(**wrong)
    with pytest.raises(ConfigError, match="split_scenes"):
        SplitScenes(width=1)


def test_a_long_video_goes_on_in_several_tasks(tmp_path):
    path = make_video(tmp_path / "long.mp4", scenes=(12, 12, 12, 12, 12))
    for split in (partial(SplitFixed, length_s=1), partial(SplitScenes, detector="content")):
        tasks = list(Pipeline(stages=[Read(path), split(task_s=2)]).run(LocalExecutor()))
        assert [task.num_rows for task in tasks] == [2, 2, 1]
        assert len({task.task_id for task in tasks}) == 3
        (whole,) = Pipeline(stages=[Read(path), split(task_s=60)]).run(LocalExecutor())
        assert [row for task in tasks for row in task.data.to_pylist()] == whole.data.to_pylist()


def test_several_tasks_of_one_video_survive_a_row_that_breaks_the_stage(tmp_path, monkeypatch):
    path = make_video(tmp_path / "long.mp4", scenes=(24, 24))
    cut = SplitFixed._cut

    def broken(self, clip):
        if clip.start_s > 0:
            raise RuntimeError("broken")
        return cut(self, clip)

    monkeypatch.setattr(SplitFixed, "_cut", broken)
    batch = VideoBatch(
        data={"uri": [path, path], "_source": [path, path], "_row": [0, 1], "start_s": [0.0, 1.0], "end_s": [4.0, 4.0]}
    )
    result = Pipeline(stages=[SplitFixed(length_s=1, task_s=1)]).run(LocalExecutor(), initial_tasks=[batch])
    assert [row["start_s"] for task in result for row in task.data.to_pylist()] == [0, 1, 2, 3]
    assert [record.row for record in result.quarantined] == [1]
