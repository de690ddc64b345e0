"""audio.read_folder and audio.duration_filter on small recordings made on the spot."""

from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from curator_audio import AudioBatch, DurationFilter, ReadFolder
from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.values.errors import ConfigError, PipelineError


def record(path, seconds=1.0, rate=16_000, channels=1):
    samples = np.sin(np.linspace(0, 440 * seconds, int(seconds * rate))) / 2
    soundfile.write(path, np.repeat(samples[:, None], channels, axis=1), rate)
    return str(path)


@pytest.fixture
def recordings(tmp_path):
    record(tmp_path / "a.wav")
    record(tmp_path / "b.flac", 2.5, 8_000, 2)
    record(tmp_path / "c.ogg", 0.5, 44_100)
    (tmp_path / "notes.txt").write_text("not audio")
    return tmp_path


@pytest.mark.parametrize("with_bytes", [False, True])
def test_every_file_becomes_a_row(recordings, with_bytes):
    result = Pipeline(stages=[ReadFolder(str(recordings), with_bytes=with_bytes)]).run(LocalExecutor())
    rows = [row for batch in result for row in batch.data.to_pylist()]
    assert all(isinstance(batch, AudioBatch) for batch in result)
    described = [(row["sample_rate"], row["channels"], row["format"]) for row in rows]
    assert described == [(16_000, 1, "WAV"), (8_000, 2, "FLAC"), (44_100, 1, "OGG")]
    assert [row["duration_s"] for row in rows] == pytest.approx([1.0, 2.5, 0.5])
    for row, name in zip(rows, ("a.wav", "b.flac", "c.ogg"), strict=True):
        content = (recordings / name).read_bytes()
        assert (row["uri"], row["_source"], row["_row"]) == (*[str(recordings / name)] * 2, 0)
        assert row["size_bytes"] == len(content)
        assert row.get("bytes") == (content if with_bytes else None)


@pytest.mark.parametrize("with_bytes", [False, True])
def test_broken_files_are_quarantined_one_by_one(recordings, with_bytes, capfd):
    (recordings / "0.wav").write_bytes(b"")
    (recordings / "1.flac").write_bytes((recordings / "b.flac").read_bytes()[:20])
    (recordings / "2.mp3").write_text("no sound at all")
    result = Pipeline(stages=[ReadFolder(str(recordings), with_bytes=with_bytes)]).run(LocalExecutor(threads=2))
    names = [Path(uri).name for batch in result for uri in batch.data["uri"].to_pylist()]
    assert names == ["a.wav", "b.flac", "c.ogg"]
    broken = [Path(record.source).name for record in result.quarantined]
    assert broken == ["0.wav", "1.flac", "2.mp3"]
    assert {record.error_type for record in result.quarantined} == {"UnreadableAudio"}
    assert all("cannot be opened as audio" in record.message for record in result.quarantined)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["a.wav", "b.flac", "c.ogg"])
@pytest.mark.parametrize("with_bytes", [False, True])
def test_mutated_files_never_crash_the_run(recordings, tmp_path_factory, name, with_bytes):
    folder = tmp_path_factory.mktemp("mutants")
    seed = np.frombuffer((recordings / name).read_bytes(), np.uint8)
    rng = np.random.default_rng(0)
    for number in range(60):
        mutant = seed.copy()[: int(rng.integers(1, len(seed) + 1))]
        mutant[rng.integers(0, min(len(mutant), 200), 6)] = rng.integers(0, 256, 6)
        (folder / f"{number}-{name}").write_bytes(mutant.tobytes())
    result = Pipeline(stages=[ReadFolder(str(folder), with_bytes=with_bytes)]).run()
    assert sum(batch.num_rows for batch in result) + result.quarantined_count == 60
    assert {record.error_type for record in result.quarantined} <= {"UnreadableAudio"}


def test_files_of_any_filesystem(recordings):
    memory = fsspec.filesystem("memory")
    memory.pipe("/speech/a.wav", (recordings / "a.wav").read_bytes())
    try:
        (batch,) = Pipeline(stages=[ReadFolder("memory://speech")]).run()
        assert batch.data["duration_s"].to_pylist() == [1.0]
    finally:
        memory.rm("/speech", recursive=True)


def test_read_and_filter(recordings):
    result = Pipeline(stages=[ReadFolder(str(recordings)), DurationFilter(min_s=0.6, max_s=2)]).run()
    assert [uri for batch in result for uri in batch.data["uri"].to_pylist()] == [str(recordings / "a.wav")]
    assert result.stats["audio.duration_filter"].dropped == {"too_short": 1, "too_long": 1}


def test_duration_filter_bounds():
    batch = TableBatch(data={"duration_s": [0.09, 0.1, 3600.0, None], "n": [0, 1, 2, 3]})
    result = Pipeline(stages=[DurationFilter()]).run(initial_tasks=[batch])
    assert result[0].data["n"].to_pylist() == [1, 2]
    assert result.stats["audio.duration_filter"].dropped == {"too_short": 1, "missing_value": 1}
    with pytest.raises(ConfigError, match="min_s=5 is more than max_s=2"):
        DurationFilter(min_s=5, max_s=2)


@given(durations=st.lists(st.none() | st.floats(0, 100), min_size=1, max_size=8))
def test_duration_filter_judges_rows_alone(durations):
    table = pa.table({"duration_s": pa.array(durations, pa.float64())})

    def rows(part):
        out = DurationFilter(max_s=50).process(AudioBatch(data=part))
        return [] if out is None else out.data.to_pylist()

    assert rows(table) == [row for index in range(len(durations)) for row in rows(table.slice(index, 1))]


def test_a_missing_folder_is_refused_before_the_run(tmp_path):
    with pytest.raises(PipelineError, match="does not exist"):
        Pipeline(stages=[ReadFolder(str(tmp_path / "speech"))]).build()
