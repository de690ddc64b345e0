"""Every stage of curator-video passes the conformance kit."""

import atexit
import shutil
import tempfile
from pathlib import Path

import av
import numpy as np
import pyarrow as pa

from curator_core import EmptyTask
from curator_core.testing import Example, parametrize_with_checks
from curator_video import DurationFilter, Read, VideoBatch


def durations():
    columns = {"duration_s": [0.5, 5.0, None], "_source": ["a", "b", "c"], "_row": [0, 0, 0]}
    return Example(DurationFilter(), [VideoBatch(data=pa.table(columns), task_id="1/0")])


def folder():
    path = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    with av.open(str(path / "a.mp4"), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 32, 16, "yuv420p"
        for _ in range(5):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((16, 32, 3), np.uint8), format="rgb24")))
        container.mux(stream.encode())
    return Example(Read(str(path)), [EmptyTask()])


@parametrize_with_checks("video", examples={"video.read": folder, "video.duration_filter": durations})
def test_video_conformance(check):
    check()
