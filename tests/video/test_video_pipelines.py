"""Whole pipelines on videos: the same on every executor, resumed as if nothing had happened."""

import pytest

from curator_core import LocalExecutor, Pipeline, StreamingExecutor
from curator_core.files.faults import hooked
from curator_core.values.errors import OutputError
from curator_video import ExtractAudio, MotionFilter, Read, SampleFrames, SplitScenes, WriteClips
from tests.support.made_videos import make_video


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("videos")
    make_video(path / "a.mp4", scenes=(18, 12), gop=12, sound=True)
    make_video(path / "b.webm", codec="libvpx-vp9", scenes=(12, 18), options={"deadline": "realtime"})
    make_video(path / "c.avi", scenes=(24,), moves=False)
    (path / "d.mp4").write_bytes(b"no video")
    return path


def stages(folder, out):
    return [
        Read(str(folder), block_bytes=1),
        SplitScenes(min_scene_s=0.5),
        MotionFilter(),
        SampleFrames(count=2),
        ExtractAudio(),
        WriteClips(str(out)),
    ]


def files(out):
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_executors_write_the_same_files(folder, tmp_path, ray_session):
    outcomes = []
    for name, executor in (("local", LocalExecutor(threads=2)), ("streaming", StreamingExecutor())):
        result = Pipeline("clips", stages=stages(folder, tmp_path / name)).run(executor)
        stats = result.stats["video.motion_filter"]
        quarantined = [(record.source, record.error_type) for record in result.quarantined]
        outcomes.append((files(tmp_path / name), dict(stats.dropped), quarantined))
    assert outcomes[0] == outcomes[1]
    written, dropped, quarantined = outcomes[0]
    assert len([name for name in written if not name.endswith(".jsonl")]) == 4
    assert dropped == {"static": 1}
    assert quarantined == [(str(folder / "d.mp4"), "UnreadableVideo")]


def test_a_resumed_run_ends_with_the_same_files(folder, tmp_path):
    Pipeline("clips", stages=stages(folder, tmp_path / "whole")).run(LocalExecutor())
    broken = Pipeline("clips", stages=stages(folder, tmp_path / "resumed"))
    visits = []

    def interrupt(point):
        visits.append(point)
        if visits.count("commit.synced") == 3:
            raise OutputError("stopped")

    with hooked(interrupt), pytest.raises(OutputError):
        broken.run(LocalExecutor(), run_dir=str(tmp_path / "run"))
    assert len(files(tmp_path / "resumed")) < len(files(tmp_path / "whole"))
    broken.run(LocalExecutor(), run_dir=str(tmp_path / "run"), resume=True)
    assert files(tmp_path / "resumed") == files(tmp_path / "whole")
