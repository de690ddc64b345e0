"""Every stage of curator-audio passes the conformance kit."""

import atexit
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import soundfile

from curator_audio import AudioBatch, DurationFilter, ReadFolder
from curator_core import EmptyTask
from curator_core.testing import Example, parametrize_with_checks


def durations():
    columns = {"duration_s": [0.05, 5.0, None], "_source": ["a", "b", "c"], "_row": [0, 0, 0]}
    return Example(DurationFilter(), [AudioBatch(data=pa.table(columns), task_id="1/0")])


def folder():
    path = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    soundfile.write(path / "a.wav", np.zeros(8_000), 8_000)
    return Example(ReadFolder(str(path)), [EmptyTask()])


@parametrize_with_checks("audio", examples={"audio.read_folder": folder, "audio.duration_filter": durations})
def test_audio_conformance(check):
    check()
