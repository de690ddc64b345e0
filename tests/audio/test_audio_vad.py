"""audio.vad: segments and shares of speech, on a voice made on the spot."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import babble, batch_of, decoded, encoded, run, silence, tone

from curator_audio import SilenceFilter, Vad
from curator_audio.speech.speech_segments import SegmentRules, find_segments
from curator_core.errors import ConfigError

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
    result, rows = run(Vad("columns", bytes_field="audio"), batch)
    assert [len(row["speech_segments"]) for row in rows] == [2, 0, 0, 0]
    assert [row["speech_s"] for row in rows[1:]] == [0, 0, 0]
    spans = rows[0]["speech_segments"]
    assert rows[0]["speech_s"] == pytest.approx(sum(span["end_s"] - span["start_s"] for span in spans), abs=1e-3)
    assert rows[0]["speech_share"] == pytest.approx(rows[0]["speech_s"] / 5.0)
    assert [row["duration_s"] for row in rows] == [9.0] * 4
    assert not result.stats["audio.vad"].dropped
    result, rows = run(Vad("columns", min_share=0.3, min_speech_s=2.0, bytes_field="audio"), batch)
    assert len(rows) == 1
    assert result.stats["audio.vad"].dropped == {"too_little_speech": 3}


def test_segments_by_reference_stay_in_their_file(tmp_path):
    path = tmp_path / "talk.flac"
    path.write_bytes(encoded(TALK, extension="flac"))
    table = {"uri": [str(path)] * 2, "_source": [str(path)] * 2, "offset_s": pa.array([None, 3.0], pa.float64())}
    table["duration_s"] = [5.0, 2.0]
    _, rows = run(Vad(bytes_field=None), batch_of(None, None, **table))
    assert [row["offset_s"] for row in rows] == [pytest.approx(value, abs=0.15) for value in (1.0, 3.5, 3.5)]
    assert [row["segment_start_s"] for row in rows] == [pytest.approx(value, abs=0.15) for value in (1.0, 3.5, 0.5)]
    _, loud = run(
        SilenceFilter(0.3, bytes_field=None),
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
        "assert Silero(stage='audio.vad').probabilities(numpy.zeros(1000, 'f4')).shape == (2,)\n"
        "assert not {'torch', 'torchaudio', 'silero_vad'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_limits_that_cannot_be_meant():
    for wrong in ({"threshold": 1.5}, {"max_segment_s": 0.01}):
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
