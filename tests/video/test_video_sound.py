"""video.extract_audio: the sound of a clip, as long as the clip."""

import io

import numpy as np
import pytest
import soundfile

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError
from curator_video import ExtractAudio, Read, SplitFixed, VideoBatch
from tests.support.made_videos import make_video


@pytest.fixture(scope="module")
def talking(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    return make_video(folder / "a.mkv", scenes=(12, 12), sound=True)


def sounds(path, *stages, **settings):
    result = Pipeline(stages=[Read(path), *stages, ExtractAudio(**settings)]).run(LocalExecutor())
    return [row["audio"] for batch in result for row in batch.data.to_pylist()]


def test_the_sound_lasts_as_long_as_the_video(talking):
    (wav,) = sounds(talking)
    samples, rate = soundfile.read(io.BytesIO(wav))
    assert (samples.shape, rate) == ((32_000,), 16_000)
    power = np.abs(np.fft.rfft(samples)) ** 2
    assert power[2 * 280 : 2 * 620].sum() > 0.99 * power.sum()
    assert 0.3 < np.abs(samples[1000:-2000]).max() < 0.6


def test_clips_of_a_track_are_parts_of_it(talking):
    (whole,) = sounds(talking)
    parts = sounds(talking, SplitFixed(length_s=0.5, min_rest_s=0))
    assert len(parts) == 4
    read = [soundfile.read(io.BytesIO(part))[0] for part in parts]
    assert [len(part) for part in read] == [8000] * 4
    expected = soundfile.read(io.BytesIO(whole))[0]
    for number, part in enumerate(read):
        begin = 8000 * number
        similar = {shift: np.corrcoef(part[400:-400], expected[begin + 400 + shift : begin + 7600 + shift])[0, 1]
                   for shift in range(-40, 41) if begin + shift + 7600 <= len(expected) }  # fmt: skip
        best = max(similar, key=similar.get)
        assert abs(best) <= 16, "Matroska counts in milliseconds: 16 samples"
        assert similar[best] > 0.99


def test_flac_and_wav_have_the_same_samples(talking):
    (wav,), (flac,) = sounds(talking), sounds(talking, format="flac")
    assert flac[:4] == b"fLaC"
    np.testing.assert_array_equal(soundfile.read(io.BytesIO(wav))[0], soundfile.read(io.BytesIO(flac))[0])


def test_rate_and_channels_are_chosen(talking):
    (wav,) = sounds(talking, rate=44_100, layout="stereo")
    samples, rate = soundfile.read(io.BytesIO(wav))
    assert (samples.shape, rate) == ((88_200, 2), 44_100)


def test_a_video_without_sound_has_none(tmp_path):
    assert sounds(make_video(tmp_path / "mute.mp4")) == [None]


def test_silence_follows_a_track_that_ends_early(tmp_path):
    path = make_video(tmp_path / "early.mkv", scenes=(24,), sound=True, sound_s=0.5)
    batch = VideoBatch(data={"uri": [path, path], "_source": [path, path], "start_s": [0.0, 1.0], "end_s": [2.0, 2.0]})
    first, second = ExtractAudio().process(batch).data["audio"].to_pylist()
    samples = soundfile.read(io.BytesIO(first))[0]
    assert len(samples) == 32_000
    assert np.abs(samples[:7000]).max() > 0.3
    assert np.abs(samples[10_000:]).max() == 0
    assert second is None


def test_impossible_rates_are_refused():
    with pytest.raises(ConfigError, match="rate must be"):
        ExtractAudio(rate=0)
