"""The video plugin keeps the rules."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

import av
import pyarrow as pa

from curator_core import EmptyTask
from curator_core.testing import Example, parametrize_with_checks
from curator_video import plugin
from curator_video.batch import VideoBatch
from curator_video.read import Read


@functools.cache
def folder() -> Path:
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    for number in range(2):
        with av.open(str(path / f"{number}.mp4"), "w") as container:
            stream = container.add_stream("mpeg4", rate=10)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            for _ in range(5 * (number + 1)):
                container.mux(stream.encode(av.VideoFrame(64, 48, "yuv420p")))
            container.mux(stream.encode())
    return path


def durations() -> Example:
    columns = {
        "duration_s": pa.array([0.01, 5.0, None, 9999.0], pa.float64()),
        "_source": pa.array([f"{number}.mp4" for number in range(4)]).dictionary_encode(),
        "_row": pa.array([0] * 4, pa.int64()),
    }
    return Example(tasks=[VideoBatch(data=columns, task_id="videos")])


EXAMPLES = {
    "video.read": lambda: Example(stage=Read(str(folder())), tasks=[EmptyTask()]),
    "video.duration_filter": durations,
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_video_conforms(check):
    check()
