"""audio.read_tar and audio.write_tar: recordings go through shards untouched; parts of them get keys of their own."""

import tarfile

from curator_audio import AudioBatch, ReadTar, WriteTar
from curator_core import LocalExecutor, Pipeline
from tests.support.recordings import FORMATS, batch_of, encoded, tone


def members(folder):
    (path,) = folder.glob("*.tar")
    with tarfile.open(path) as archive:
        return {each.name: archive.extractfile(each).read() for each in archive}


def test_recordings_are_read_back_byte_for_byte(tmp_path):
    contents = [encoded(tone(0.2), extension=extension) for extension in FORMATS]
    uris = [f"speech/{number}.raw" for number in range(5)]
    table = {"uri": uris, "text": ["a", "b", None, "d", "e"], "speaker": [1, 2, 3, 4, 5]}
    Pipeline(stages=[WriteTar(str(tmp_path))]).run(LocalExecutor(), initial_tasks=[batch_of(*contents, **table)])
    names = ["wav", "flac", "ogg", "ogg", "mp3"]  # what the bytes are, not what the file was called
    assert [name for name in members(tmp_path) if not name.endswith(("json", "txt"))] == [
        f"speech/{number}.{extension}" for number, extension in enumerate(names)
    ]
    (batch,) = Pipeline(stages=[ReadTar(str(tmp_path))]).run(LocalExecutor())
    assert isinstance(batch, AudioBatch)
    rows = batch.data.to_pylist()
    assert [row["bytes"] for row in rows] == contents
    assert [row["text"] for row in rows] == table["text"]
    assert [row["speaker"] for row in rows] == table["speaker"]


def test_parts_of_a_recording_have_keys_of_their_own(tmp_path):
    sound = encoded(tone(0.2))
    batch = batch_of(sound, sound, sound, uri=["a.wav"] * 3, offset_s=[None, 0.5, 61.25])
    result = Pipeline(stages=[WriteTar(str(tmp_path))]).run(LocalExecutor(), initial_tasks=[batch])
    keys = [name.removesuffix(".wav") for name in members(tmp_path) if name.endswith(".wav")]
    assert keys == ["a", "a-00000500", "a-00061250"]
    assert not result.quarantined


def test_a_key_that_is_there_twice_is_quarantined(tmp_path):
    sound = encoded(tone(0.1))
    batch = batch_of(sound, sound, None, key=["a", "a", "b"])
    result = Pipeline(stages=[WriteTar(str(tmp_path))]).run(LocalExecutor(), initial_tasks=[batch])
    assert [record.source for record in result.quarantined] == ["1.bin"]
    assert [name for name in members(tmp_path) if name.startswith("a")] == ["a.wav"]
