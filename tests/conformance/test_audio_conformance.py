"""The audio plugin keeps the rules."""

import atexit
import functools
import json
import shutil
import tarfile
import tempfile
import wave
from pathlib import Path

import pyarrow as pa

from curator_audio import plugin
from curator_audio.batch import AudioBatch
from curator_audio.read_folder import ReadFolder
from curator_audio.read_manifest import ReadManifest
from curator_audio.speech.asr import Asr
from curator_audio.speech.vad import Vad
from curator_audio.tar import ReadTar, WriteTar
from curator_audio.write_manifest import WriteManifest
from curator_core import EmptyTask
from curator_devkit.testing import Example, parametrize_with_checks


@functools.cache
def folder() -> Path:
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    for number in range(3):
        with wave.open(str(path / f"{number}.wav"), "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(8000)
            sound.writeframes(bytes(range(100)) * 16 * (number + 1))
        with (path / "manifest.jsonl").open("a") as manifest:
            manifest.write(json.dumps({"audio_filepath": f"{number}.wav", "text": "hello"}) + "\n")
    return path


def shard() -> Path:
    path = folder() / "shard.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(3):
            archive.add(folder() / f"{number}.wav", f"{number}.wav")
    return path


def sounds(stage=None, *, count=3) -> Example:
    contents = [(folder() / f"{number}.wav").read_bytes() for number in range(count)]
    columns = {
        "bytes": pa.array([*contents, None], pa.large_binary()),
        "key": pa.array([f"{number}" for number in range(count + 1)]),
        "_source": pa.array([f"{number}.wav" for number in range(count + 1)]).dictionary_encode(),
        "_row": pa.array([0] * (count + 1), pa.int64()),
    }
    return Example(stage=stage, tasks=[AudioBatch(data=columns, task_id="sounds")])


def durations() -> Example:
    columns = {
        "duration_s": pa.array([0.01, 5.0, None, 9999.0], pa.float64()),
        "_source": pa.array([f"{number}.wav" for number in range(4)]).dictionary_encode(),
        "_row": pa.array([0] * 4, pa.int64()),
    }
    return Example(tasks=[AudioBatch(data=columns, task_id="sounds")])


def transcripts() -> Example:
    columns = {
        "text": pa.array(["One, two.", "three", None, ""]),
        "transcript": pa.array(["one two", "tree", "four", ""]),
        "_source": pa.array(["manifest.jsonl"] * 4).dictionary_encode(),
        "_row": pa.array([0, 1, 2, 3], pa.int64()),
    }
    return Example(tasks=[AudioBatch(data=columns, task_id="transcripts")])


EXAMPLES = {
    "audio.read_folder": lambda: Example(stage=ReadFolder(str(folder())), tasks=[EmptyTask()]),
    "audio.read_manifest": lambda: Example(stage=ReadManifest(str(folder() / "manifest.jsonl")), tasks=[EmptyTask()]),
    "audio.resample": sounds,
    "audio.duration_filter": durations,
    "audio.silence_filter": sounds,
    "audio.vad": lambda: sounds(Vad("columns")),
    "audio.quality": lambda: sounds(count=1),
    "audio.asr": lambda: sounds(Asr(backend="pocketsphinx")),
    "audio.wer_filter": transcripts,
    "audio.read_tar": lambda: Example(stage=ReadTar(str(shard())), tasks=[EmptyTask()]),
    "audio.write_tar": lambda: sounds(WriteTar(str(folder() / "out"))),
    "audio.write_manifest": lambda: sounds(WriteManifest(str(folder() / "out"))),
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_audio_conforms(check):
    check()
