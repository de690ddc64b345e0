"""What becomes of the bytes of recordings: every format and width, and files that are not what they say."""

import io
import struct

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_audio import Resample, SilenceFilter
from curator_audio.sound.decoding import Span, decode_mono
from curator_audio.sound.limits import AudioLimits
from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError, DataError
from tests.support.recordings import FORMATS, batch_of, decoded, encoded, tone


def mono(content, rate=16_000, span=None, **limits):
    return decode_mono(io.BytesIO(content), rate, AudioLimits(**limits), span=span)


def why_refused(content, **limits):
    with pytest.raises(DataError) as refused:
        mono(content, **limits)
    return refused.value.message


@pytest.mark.parametrize("extension", FORMATS)
@pytest.mark.parametrize(("rate", "channels"), [(16_000, 1), (48_000, 2)])
def test_every_format_comes_out_as_one_channel(extension, rate, channels):
    samples = tone(1.5, rate, channels)
    out = mono(encoded(samples, rate, extension))
    assert abs(len(out) - 24_000) <= 1
    peak_hertz = np.argmax(np.abs(np.fft.rfft(out))) * 16_000 / len(out)
    assert peak_hertz == pytest.approx(440, abs=1)
    assert np.abs(out).std() == pytest.approx(np.abs(mono(encoded(samples, rate))).std(), rel=0.05)


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW"])
def test_every_width_of_wav(subtype):
    samples = tone(0.25, channels=2)
    out = mono(encoded(samples, subtype=subtype))
    assert np.abs(out - samples.mean(axis=1)).max() < (0.03 if subtype in ("PCM_U8", "ULAW") else 1e-4)


def test_many_channels_are_averaged():
    samples = np.stack([np.full(100, value, np.float32) for value in np.linspace(-1, 0.5, 16)], axis=1)
    assert np.allclose(mono(encoded(samples, subtype="FLOAT")), -0.25)
    assert "65 channels are not within 1 to 64" in why_refused(encoded(np.zeros((10, 65))))


def test_float_samples_beyond_full_scale_are_clipped_and_non_numbers_refused():
    assert mono(encoded(np.array([0.5, 7.0, -9.0], np.float32), subtype="FLOAT")).tolist() == [0.5, 1.0, -1.0]
    for value in (np.nan, np.inf, -np.inf):
        content = encoded(np.array([0.1, value, 0.2], np.float32), subtype="FLOAT")
        assert "not numbers" in why_refused(content)


def test_a_recording_without_samples_has_none():
    assert len(mono(encoded(np.zeros((0, 1)), 8_000))) == 0


@settings(max_examples=30, deadline=None)
@given(frames=st.integers(1, 40_000), rate=st.sampled_from([8_000, 11_025, 16_000, 22_050, 44_100, 48_000]))
def test_resampling_keeps_the_duration(frames, rate):
    out = mono(encoded(tone(1, 50_000)[:frames], rate))
    assert abs(len(out) - frames * 16_000 / rate) <= 1


def test_long_recordings_are_resampled_in_pieces_as_if_in_one(monkeypatch):
    content = encoded(tone(3, 44_100, 2), 44_100)
    whole = mono(content)
    monkeypatch.setattr("curator_audio.sound.decoding._BLOCK_SAMPLES", 10_000)
    pieces = mono(content)
    assert len(pieces) == len(whole)
    assert np.abs(pieces - whole).max() < 1e-5


@pytest.mark.parametrize("extension", FORMATS)
def test_a_part_is_what_it_is_of_the_whole(extension):
    content = encoded(tone(2, seed=3), extension=extension)
    whole, part = mono(content), mono(content, span=Span(0.5, 1.25))
    assert len(part) == 12_000
    # Opus and MP3 need some sound before a cut to decode what follows exactly.
    assert np.abs(part[3_000:] - whole[11_000:20_000]).max() < 2e-2
    assert len(mono(content, span=Span(1.5))) == len(whole) - 24_000
    with pytest.raises(DataError, match="not inside the"):
        mono(content, span=Span(1.0, 3.0))


@pytest.mark.parametrize("extension", FORMATS)
def test_torn_files_are_refused(extension):
    content = encoded(tone(2), extension=extension)
    for end in (0, 3, 10, 60, len(content) // 3, len(content) // 2, len(content) - 20):
        if extension == "mp3" and end > len(content) // 2:
            continue  # the last frames of an MP3 file hold less than they take
        assert why_refused(content[:end])


def test_a_wav_file_from_a_pipe_has_no_size():
    content = bytearray(encoded(tone(0.5)))
    at = content.index(b"data") + 4
    for size in (0xFFFFFFFF, 0x7FFFF024):
        content[at : at + 4] = struct.pack("<I", size)
        assert len(mono(bytes(content))) == 8_000


@pytest.mark.parametrize("extension", ["ogg", "opus"])
def test_any_damage_to_an_ogg_file_is_noticed(extension):
    content = encoded(tone(1), extension=extension)
    for position in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[position] ^= 0x10
        assert why_refused(bytes(damaged))
    second = content.index(b"OggS", 4)
    third = content.index(b"OggS", second + 4)
    assert why_refused(content[:second] + content[third:])
    assert len(mono(content + b"TAG behind the end")) == len(mono(content))


def test_a_small_file_that_claims_days_is_refused_before_it_is_decoded():
    content = bytearray(encoded(np.zeros((16_000, 1)), extension="flac"))
    assert len(content) < 20_000
    content[21] |= 0x0F  # the upper bits of the number of samples in the stream's description
    content[22:26] = b"\xff\xff\xff\xff"
    assert "longer than max_duration_s=3600" in why_refused(bytes(content))
    silence = encoded(np.zeros((16_000 * 120, 1)), extension="flac")
    assert len(silence) < 30_000
    assert "it lasts 120 s, longer than max_duration_s=60" in why_refused(silence, max_duration_s=60)


def test_odd_sample_rates_are_refused():
    content = bytearray(encoded(tone(0.1)))
    for rate in (1, 999, 2_000_000):
        content[24:28] = struct.pack("<I", rate)
        assert "sample rate" in why_refused(bytes(content))


def test_mislabelled_files_are_decoded_by_their_content(tmp_path):
    assert len(mono(encoded(tone(0.5), extension="flac"))) == 8_000  # the name plays no part
    assert "cannot be opened as audio" in why_refused(b"\x89PNG\r\n\x1a\n" + bytes(5000))


def test_resample():
    batch = batch_of(encoded(tone(1, 44_100, 2), 44_100, "ogg"), None, b"junk", encoded(np.zeros((0, 1))))
    result = Pipeline(stages=[Resample(16_000, file_format="wav")]).run(LocalExecutor(), initial_tasks=[batch])
    rows = result[0].data.to_pylist()
    samples, rate = decoded(rows[0]["bytes"])
    assert (rate, samples.shape) == (16_000, (16_000, 1))
    assert [row["duration_s"] for row in rows] == [1.0, None, 0.0]
    assert (rows[0]["format"], rows[0]["size_bytes"]) == ("WAV", len(rows[0]["bytes"]))
    assert rows[1]["bytes"] is None
    (record,) = result.quarantined
    assert (record.source, record.error_type) == ("2.bin", "UnreadableAudio")


def test_resample_keeps_channels_and_width_if_asked():
    batch = batch_of(encoded(tone(0.5, 8_000, 3), 8_000, subtype="PCM_24"), field="audio", duration_s=[99.0])
    stage = Resample(12_000, mono=False, subtype="PCM_24", bytes_column="audio")
    row = stage.process(batch).data.to_pylist()[0]
    with soundfile.SoundFile(io.BytesIO(row["audio"])) as sound:
        assert (sound.samplerate, sound.channels, sound.format, sound.subtype) == (12_000, 3, "FLAC", "PCM_24")
        assert sound.frames == 6_000
    assert row["duration_s"] == 99.0  # of the row, which is not only sound


def test_resample_by_reference(tmp_path):
    path = tmp_path / "a.flac"
    path.write_bytes(encoded(tone(2), extension="flac"))
    batch = batch_of(
        None, None, uri=[str(path)] * 2, _source=[str(path)] * 2, offset_s=[None, 0.5], duration_s=[2.0, 1.0]
    )
    out = Resample(8_000, bytes_column=None).process(batch).data.to_pylist()
    assert [len(decoded(row["bytes"])[0]) for row in out] == [16_000, 8_000]


def test_resample_to_one_of_the_channels():
    samples = np.concatenate([tone(0.5, hertz=300), tone(0.5, hertz=900)], axis=1)
    batch = batch_of(encoded(samples), encoded(samples[:, :1]))
    result = Pipeline(stages=[Resample(channel="right")]).run(LocalExecutor(), initial_tasks=[batch])
    (row,) = result[0].data.to_pylist()
    assert np.abs(decoded(row["bytes"])[0][:, 0] - samples[:, 1]).max() < 1e-4
    (record,) = result.quarantined
    assert (record.source, record.error_type) == ("1.bin", "UnreadableAudio")
    assert "there is no channel 'right'" in record.message
    with pytest.raises(ConfigError, match="mono=false keeps all"):
        Resample(mono=False, channel=0)


def test_each_channel_is_decoded_for_itself():
    both = np.concatenate([tone(0.5), np.zeros((8_000, 1), np.float32)], axis=1)
    stages = [SilenceFilter(channel=channel).with_(tag=True, name=f"c{channel}") for channel in (0, 1, "mean")]
    (batch,) = Pipeline(stages=stages).run(LocalExecutor(), initial_tasks=[batch_of(encoded(both))])
    scores = [batch.data[f"c{channel}_score"].to_pylist() for channel in (0, 1, "mean")]
    assert scores == [[0.0], [1.0], [0.0]]


def test_resample_refuses_what_cannot_be():
    with pytest.raises(ConfigError, match="rate=10"):
        Resample(10)
    with pytest.raises(ConfigError, match="FLAC holds no floating-point"):
        Resample(subtype="FLOAT")
    many = batch_of(encoded(np.zeros((10, 9))))
    result = Pipeline(stages=[Resample(mono=False)]).run(LocalExecutor(), initial_tasks=[many])
    assert "use WAV" in result.quarantined[0].message


def test_silence_filter_drops_what_is_silent_or_quiet():
    half = np.concatenate([np.zeros((8_000, 1), np.float32), tone(0.5)])
    quiet = tone(1, level=0.01)
    batch = batch_of(*map(encoded, (tone(1), half, quiet, np.zeros((16_000, 1)), np.zeros((0, 1)))), None)
    stage = SilenceFilter(max_silence_fraction=0.6, min_level_dbfs=-30)
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    rows = result[0].data.to_pylist()
    assert [row["_source"] for row in rows] == ["0.bin", "1.bin"]
    assert [row["silence_fraction"] for row in rows] == pytest.approx([0.0, 0.5])
    assert rows[0]["level_dbfs"] == pytest.approx(20 * np.log10(0.3 / np.sqrt(2)), abs=0.1)
    assert result.stats["audio.silence_filter"].dropped == {"too_silent": 1, "too_quiet": 1, "missing_value": 2}


def test_neighbouring_filters_decode_once(monkeypatch):
    import curator_audio.sound.samples as module

    calls = []
    original = module.mono_blocks
    monkeypatch.setattr(module, "mono_blocks", lambda *args, **kwargs: calls.append(1) or original(*args, **kwargs))
    contents = [encoded(tone(0.2, level=level)) for level in (0.3, 0.001, 0.2)]
    stages = [SilenceFilter(), SilenceFilter(min_level_dbfs=-20).with_(name="again")]
    result = Pipeline(stages=stages).run(LocalExecutor(), initial_tasks=[batch_of(*contents[:2], b"junk", contents[2])])
    assert result[0].num_rows == 2
    assert result.quarantined_count == 1
    assert len(calls) == 4
    del result
    assert module._room._used_bytes == 0


def test_what_does_not_fit_is_decoded_again(monkeypatch):
    import curator_audio.sound.samples as module

    room = module._Room(10_000)
    monkeypatch.setattr(module, "_room", room)
    batch = batch_of(*[encoded(tone(0.1, hertz=100 * number)) for number in range(1, 5)])
    first, second = (SilenceFilter().process(batch).data for _ in range(2))
    assert first.equals(second)
    assert room._used_bytes == 6_400
