"""The video plugin keeps the rules."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa

from curator_core import EmptyTask
from curator_devkit.testing import Example, parametrize_with_checks
from curator_video import plugin
from curator_video.batch import VideoBatch
from curator_video.embed import Embed
from curator_video.extract_audio import ExtractAudio
from curator_video.motion_filter import MotionFilter
from curator_video.read import Read
from curator_video.sample_frames import SampleFrames
from curator_video.split_fixed import SplitFixed
from curator_video.split_scenes import SplitScenes
from curator_video.write_clips import WriteClips
from tests.support.made_videos import make_video
from tests.support.tiny_vision_models import vision_model


@functools.cache
def folder() -> Path:
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    make_video(path / "0.mp4", scenes=(8, 8))
    make_video(path / "1.mp4", scenes=(10,), moves=False)
    make_video(path / "2.webm", codec="libvpx-vp9", scenes=(6, 6), sound=True, options={"deadline": "realtime"})
    return path


def durations() -> Example:
    columns = {
        "duration_s": pa.array([0.01, 5.0, None, 9999.0], pa.float64()),
        "_source": pa.array([f"{number}.mp4" for number in range(4)]).dictionary_encode(),
        "_row": pa.array([0] * 4, pa.int64()),
    }
    return Example(tasks=[VideoBatch(data=columns, task_id="videos")])


def clips() -> VideoBatch:
    """Clips of whole files and parts of them, one of unknown end, and a row without a file."""
    names = ["0.mp4", "1.mp4", "2.webm", "0.mp4", None]
    columns = {
        "uri": pa.array([None if name is None else str(folder() / name) for name in names]),
        "start_s": pa.array([0.0, 0.0, 0.0, 0.5, None], pa.float64()),
        "end_s": pa.array([4 / 3, None, 1.0, 1.25, None], pa.float64()),
        "_source": pa.array([str(folder() / (name or "none")) for name in names]).dictionary_encode(),
        "_row": pa.array([0] * len(names), pa.int64()),
    }
    return VideoBatch(data=columns, task_id="3f2a/0")


def on_clips(make):
    return lambda: Example(stage=make(), tasks=[clips()])


EXAMPLES = {
    "video.read": lambda: Example(stage=Read(str(folder())), tasks=[EmptyTask()]),
    "video.duration_filter": durations,
    "video.split_fixed": on_clips(lambda: SplitFixed(length_s=0.5, min_rest_s=0.1)),
    "video.split_scenes": on_clips(lambda: SplitScenes(detector="content", min_scene_s=0.2)),
    "video.motion_filter": on_clips(MotionFilter),
    "video.sample_frames": on_clips(lambda: SampleFrames(count=2)),
    "video.extract_audio": on_clips(ExtractAudio),
    "video.embed": on_clips(lambda: Embed(str(vision_model("clip")), count=2)),
    "video.write_clips": on_clips(lambda: WriteClips(str(folder() / "out"))),
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_video_conforms(check):
    check()
