"""audio.vad: segments and fractions of speech, on a voice made on the spot."""

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path
from unittest.mock import MagicMock, patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curator_audio import ReadFolder, SilenceFilter, Vad, WriteManifest
from curator_audio.speech.silero import WINDOW_S, Silero
from curator_audio.speech.speech_segments import SegmentRules, find_segments
from curator_core import LocalExecutor, Pipeline, ProcessingStage
from curator_core.values.errors import ConfigError, StageError
from tests.support.recordings import babble, batch_of, decoded, encoded, run, silence, tone

TALK = np.concatenate([silence(1.0), babble(1.5), silence(1.0), babble(1.0, seed=2), silence(0.5)])


def test_each_segment_becomes_a_row_with_its_sound():
    talk = np.repeat(np.concatenate([np.repeat(part, 3, axis=0) for part in (TALK,)]), 2, axis=1)  # 48 kHz, stereo
    batch = batch_of(
        encoded(talk, 48_000), encoded(tone(2)), None, speaker=["ann", "bob", "cid"], duration_s=[5.0, 2.0, None]
    )
    result, rows = run(Vad(), batch)
    assert [row["speaker"] for row in rows] == ["ann", "ann"]
    starts_and_ends = [(row["segment_start_s"], row["segment_end_s"]) for row in rows]
    assert starts_and_ends == [
        (pytest.approx(1.0, abs=0.15), pytest.approx(2.5, abs=0.2)),
        (pytest.approx(3.5, abs=0.25), pytest.approx(4.5, abs=0.25)),
    ]
    for row, (start, end) in zip(rows, starts_and_ends, strict=True):
        samples, rate = decoded(row["bytes"])
        assert (rate, samples.shape[1]) == (48_000, 2)
        assert np.abs(samples - talk[round(start * 48_000) : round(end * 48_000)]).max() < 1e-4
        assert (row["offset_s"], row["duration_s"]) == (start, pytest.approx(end - start))
    assert result.stats["audio.vad"].dropped == {"no_speech": 2}


def test_columns_instead_of_rows():
    batch = batch_of(
        encoded(TALK), encoded(tone(2)), None, encoded(np.zeros((0, 1))), field="audio", duration_s=[9.0] * 4
    )
    result, rows = run(Vad("columns", bytes_column="audio"), batch)
    assert [len(row["speech_segments"]) for row in rows] == [2, 0, 0, 0]
    assert [row["speech_s"] for row in rows[1:]] == [0, 0, 0]
    spans = rows[0]["speech_segments"]
    assert rows[0]["speech_s"] == pytest.approx(sum(span["end_s"] - span["start_s"] for span in spans), abs=1e-3)
    assert rows[0]["speech_fraction"] == pytest.approx(rows[0]["speech_s"] / 5.0)
    assert [row["duration_s"] for row in rows] == [9.0] * 4
    assert not result.stats["audio.vad"].dropped
    result, rows = run(Vad("columns", min_speech_fraction=0.3, min_speech_s=2.0, bytes_column="audio"), batch)
    assert len(rows) == 1
    assert result.stats["audio.vad"].dropped == {"too_little_speech": 3}


def test_segments_by_reference_stay_in_their_file(tmp_path):
    path = tmp_path / "talk.flac"
    path.write_bytes(encoded(TALK, extension="flac"))
    table = {"uri": [str(path)] * 2, "_source": [str(path)] * 2, "offset_s": pa.array([None, 3.0], pa.float64())}
    table["duration_s"] = [5.0, 2.0]
    _, rows = run(Vad(bytes_column=None), batch_of(None, None, **table))
    assert [row["offset_s"] for row in rows] == [pytest.approx(value, abs=0.15) for value in (1.0, 3.5, 3.5)]
    assert [row["segment_start_s"] for row in rows] == [pytest.approx(value, abs=0.15) for value in (1.0, 3.5, 0.5)]
    _, loud = run(
        SilenceFilter(0.3, bytes_column=None),
        batch_of(*[None] * 3, **{name: [row[name] for row in rows] for name in table}),
    )
    assert len(loud) == 3


def test_tagging_loses_no_row():
    stage = Vad().with_(tag=True)
    _, rows = run(stage, batch_of(encoded(TALK), encoded(tone(1))))
    assert [(row["_source"], row["vad_reason"]) for row in rows] == [
        ("0.bin", None),
        ("0.bin", None),
        ("1.bin", "no_speech"),
    ]
    assert rows[2]["segment_start_s"] is None
    assert rows[2]["bytes"] is None


def test_bad_recordings_are_quarantined():
    many_channels = encoded(np.repeat(babble(1.5), 9, axis=1))
    result, rows = run(Vad(), batch_of(b"junk", encoded(TALK), encoded(TALK)[:5000], many_channels))
    assert {row["_source"] for row in rows} == {"1.bin"}
    assert {record.source for record in result.quarantined} == {"0.bin", "2.bin", "3.bin"}
    assert "use WAV" in {record.source: record.message for record in result.quarantined}["3.bin"]


def test_long_segments_are_cut():
    _, rows = run(Vad(max_segment_s=1.0), batch_of(encoded(babble(4))))
    lengths = [row["segment_end_s"] - row["segment_start_s"] for row in rows]
    assert len(lengths) >= 4
    assert max(lengths) <= 1.0 + 1e-6
    assert sum(lengths) > 2


def test_neither_torch_nor_the_detectors_package_is_imported():
    code = (
        "import sys, numpy\n"
        "from curator_audio.speech.silero import Silero\n"
        "assert Silero(stage='audio.vad').probabilities([numpy.zeros(1000, 'f4')]).shape == (2,)\n"
        "assert not {'torch', 'torchaudio', 'silero_vad'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_limits_that_cannot_be_meant():
    for wrong in ({"threshold": 1.5}, {"min_speech_fraction": 30}, {"max_segment_s": 0.01}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            Vad(**wrong)


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.9]), max_size=120),
    st.sampled_from([None, 0.3, 1.0]),
    st.floats(0, 0.3),
    st.floats(0, 0.2),
)
def test_segments_are_ordered_inside_and_apart(values, longest, least, pad):
    duration = len(values) * 0.032
    rules = SegmentRules(min_segment_s=least, max_segment_s=longest, pad_s=pad)
    windows = np.array(values, np.float32)
    segments = find_segments(windows, rules, window_s=0.032, duration_s=duration)
    times = [time for segment in segments for time in segment]
    assert times == sorted(times)
    assert all(-1e-3 <= time <= duration + 1e-3 for time in times)
    if longest is not None:
        allowed = max(longest, 0.032 + 2 * pad)
        assert all(end - start <= allowed + 1e-3 for start, end in segments)
    loud = find_segments(np.maximum(windows, 0.9), rules, window_s=0.032, duration_s=duration)
    assert sum(end - start for start, end in loud) >= sum(end - start for start, end in segments) - 1e-3


def test_pauses_and_hysteresis():
    def found(*values, **rules):
        windows = np.array(values, np.float32)
        rules = {"pad_s": 0, "min_segment_s": 0, **rules}
        return find_segments(windows, SegmentRules(**rules), window_s=0.1, duration_s=len(values) / 10)

    assert found(0, 0.5, 0.4, 0.36, 0.34, 0) == [(0.1, 0.4)]
    assert found(0.4, 0.4) == []
    assert found(1, 0, 1) == [(0.0, 0.3)]
    assert found(1, 0, 0, 1) == [(0.0, 0.1), (0.3, 0.4)]
    assert found(1, 0, 0, 1, pad_s=0.5) == [(0.0, 0.2), (0.2, 0.4)]
    assert found(1, 1, 0, 0, 1, min_segment_s=0.15) == [(0.0, 0.2)]


@cache
def silero_functions():
    """Return silero-vad's own module of functions, without torch, which these need not and which takes seconds."""
    package = Path(importlib.util.find_spec("silero_vad").origin).parent
    spec = importlib.util.spec_from_file_location("silero_functions", package / "utils_vad.py")
    module = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, torch=MagicMock()):
        spec.loader.exec_module(module)
    return module


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.34, 0.35, 0.4, 0.49, 0.5, 0.9]) | st.floats(0, 1, width=32), max_size=90),
    st.integers(1, 512),
)
@example([0.9] * 10 + [0.1] + [0.4] * 6 + [0.9] * 10, 512)  # a pause of which only the first window is quiet
@example([0.9] * 10 + [0.1] + [0.4] * 6, 512)
@example([0.9] * 8, 416)  # exactly as long as a segment must not be
def test_segments_are_those_of_silero(values, last):
    windows = np.array(values, np.float32)
    samples = max(0, len(windows) - 1) * 512 + (last if values else 0)
    theirs = silero_functions().get_speech_timestamps_from_probs(windows.tolist(), audio_length_samples=samples)
    expected = [(round(each["start"] / 16_000, 4), round(each["end"] / 16_000, 4)) for each in theirs]
    assert find_segments(windows, SegmentRules(), window_s=WINDOW_S, duration_s=samples / 16_000) == expected


def test_the_detector_hears_the_same_in_blocks_of_any_size():
    detector = Silero(stage="audio.vad")
    samples = np.concatenate([babble(12), silence(3), babble(6, seed=3)])[:, 0]
    whole = detector.probabilities([samples])
    assert len(whole) == -(-len(samples) // 512)
    for size in (7_777, 100_000):
        blocks = (samples[start : start + size] for start in range(0, len(samples), size))
        assert np.array_equal(detector.probabilities(blocks), whole)
    assert len(detector.probabilities([])) == 0


def test_long_recordings_are_never_held_whole(monkeypatch):
    import curator_audio.sound.samples as module
    from curator_audio.sound import decoding

    monkeypatch.setattr(decoding, "_BLOCK_SAMPLES", 2**16)
    monkeypatch.setattr(module, "_STREAMED_BYTES", 2**17)
    held = []
    joined = module.joined
    monkeypatch.setattr(module, "joined", lambda blocks: held.append(sum(map(len, blocks))) or joined(blocks))
    content = encoded(np.tile(TALK, (4, 1)), 16_000, "flac")
    _, rows = run(Vad("columns"), batch_of(content))
    assert not held
    assert len(rows[0]["speech_segments"]) == 8
    run(Vad("columns"), batch_of(encoded(TALK[:20_000])))
    assert held == [20_000]


class Seen(ProcessingStage):
    """Notes how many files the writer behind it has written when it gets a task."""

    name = "seen"
    fuse = True

    def __init__(self, folder: str, log: list) -> None:
        self.folder = folder
        self.log = log

    def process(self, task):
        import os

        self.log.append((task.task_id, task.num_rows, len(os.listdir(self.folder))))  # noqa: PTH208 - names alone
        return task


def test_the_segments_of_a_long_recording_arrive_in_several_tasks(tmp_path):
    content = encoded(np.tile(TALK, (6, 1)), 16_000, "flac")
    batch = batch_of(content, encoded(TALK), speaker=["ann", "bob"], uri=["a.flac", "b.wav"])
    result, expected = run(Vad(task_s=1e9), batch)
    assert [each.task_id for each in result] == ["0"]
    assert len(expected) == 14
    total_s = sum(row["duration_s"] for row in expected)
    for task_s in (total_s, round(total_s, 4), total_s - 1e-9):  # sums that differ in the last digit lose no segment
        assert run(Vad(task_s=task_s), batch)[1] == expected
    log = []
    folder = tmp_path / "out"
    folder.mkdir()
    stages = [Vad(task_s=5.0), Seen(str(folder), log)]
    result = Pipeline(stages=stages).run(LocalExecutor(), initial_tasks=[batch])
    assert [each.task_id for each in result] == [f"0/{number}" for number in range(len(result))]
    assert len(result) >= 4
    assert [row for each in result for row in each.data.to_pylist()] == expected
    assert all(sum(each.data["duration_s"].to_pylist()) <= 5.0 for each in result)
    log.clear()
    Pipeline(stages=[*stages, WriteManifest(str(folder))]).run(LocalExecutor(), initial_tasks=[batch])
    # The first tasks were written before the last ones were cut.
    assert log[-1][2] >= sum(rows for _, rows, _ in log[:-1])


class FailsOnce(ProcessingStage):
    """Raises at the second task of a recording, unless a file is there."""

    name = "fails_once"

    def __init__(self, fixed: str) -> None:
        self.fixed = fixed

    def process(self, task):
        if task.task_id.endswith("/1") and not Path(self.fixed).exists():
            raise ValueError("not yet")
        return task


def test_a_run_that_fails_within_a_recording_resumes_as_if_it_had_not(tmp_path):
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    for name in "ab":
        (sounds / f"{name}.flac").write_bytes(encoded(np.tile(TALK, (3, 1)), 16_000, "flac"))

    def run_to(name, fixed, **options):
        stages = [
            ReadFolder(str(sounds), with_bytes=True, block_bytes=1),
            Vad(task_s=3.0),
            FailsOnce(str(fixed)).with_(on_error="raise", max_attempts=1),
            WriteManifest(str(tmp_path / name), columns=["segment_start_s"]),
        ]
        Pipeline("segments", stages=stages).run(LocalExecutor(), run_dir=tmp_path / f"{name}-run", **options)
        return {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}

    fixed = tmp_path / "fixed"
    with pytest.raises(StageError, match="not yet"):
        run_to("resumed", fixed)
    fixed.touch()
    resumed = run_to("resumed", fixed, resume=True)
    assert resumed == run_to("resumed", fixed)  # afresh, to the same place
    assert len([name for name in resumed if name.endswith("jsonl")]) > 4


def test_a_recording_that_cannot_be_cut_is_one_record_and_the_others_come_through():
    many = encoded(np.repeat(babble(1.5), 9, axis=1))
    result, rows = run(Vad(task_s=2.0), batch_of(encoded(TALK), many, encoded(TALK)))
    assert [row["_source"] for row in rows] == ["0.bin", "0.bin", "2.bin", "2.bin"]
    (record,) = result.quarantined
    assert (record.source, record.error_type) == ("1.bin", "UnreadableAudio")


def test_an_unexpected_failure_costs_one_row(monkeypatch):
    """The rows of a table are told apart also where a part of it becomes several tasks."""
    original = Vad.predict

    def fail(self, model, rows):
        found = original(self, model, rows)
        if found["speech_s"][0] > 4 * 2:
            raise ValueError("too much")
        return found

    monkeypatch.setattr(Vad, "predict", fail)
    batch = batch_of(encoded(TALK), encoded(np.tile(TALK, (6, 1))), encoded(TALK), encoded(TALK))
    result, rows = run(Vad(task_s=2.0), batch)
    assert [row["_source"] for row in rows] == ["0.bin", "0.bin", "2.bin", "2.bin", "3.bin", "3.bin"]
    assert [record.source for record in result.quarantined] == ["1.bin"]


def test_channels_can_be_heard_one_by_one():
    both = np.concatenate([TALK, silence(len(TALK) / 16_000)], axis=1)
    batch = batch_of(encoded(both), encoded(TALK))
    for channel in (0, "left"):
        _, rows = run(Vad("columns", channel=channel), batch)
        assert [len(row["speech_segments"]) for row in rows] == [2, 2]
    for channel in (1, "right"):
        result, rows = run(Vad("columns", channel=channel), batch)
        assert [row["speech_segments"] for row in rows] == [[]]
        (record,) = result.quarantined
        assert (record.source, record.message) == (
            "1.bin",
            f"there is no channel {channel!r} (counted from 0): the recording has 1",
        )
    with pytest.raises(ConfigError, match="channel must be at least 0"):
        Vad(channel=-1)
