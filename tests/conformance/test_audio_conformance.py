"""The audio plugin keeps the rules."""

import atexit
import functools
import shutil
import tempfile
import wave
from pathlib import Path

import pyarrow as pa

from curator_audio import plugin
from curator_audio.batch import AudioBatch
from curator_audio.read_folder import ReadFolder
from curator_core import EmptyTask
from curator_core.testing import Example, parametrize_with_checks


@functools.cache
def folder() -> Path:
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    for number in range(3):
        with wave.open(str(path / f"{number}.wav"), "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(8000)
            sound.writeframes(bytes(2 * 800 * (number + 1)))
    return path


def durations() -> Example:
    columns = {
        "duration_s": pa.array([0.01, 5.0, None, 9999.0], pa.float64()),
        "_source": pa.array([f"{number}.wav" for number in range(4)]).dictionary_encode(),
        "_row": pa.array([0] * 4, pa.int64()),
    }
    return Example(tasks=[AudioBatch(data=columns, task_id="sounds")])


EXAMPLES = {
    "audio.read_folder": lambda: Example(stage=ReadFolder(str(folder())), tasks=[EmptyTask()]),
    "audio.duration_filter": durations,
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_audio_conforms(check):
    check()
