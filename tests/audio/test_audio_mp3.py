"""MP3 files without a length are decoded to their end; those that say more than there is are refused."""

import io

import numpy as np
import pytest

from curator_audio import ReadFolder, ReadManifest, Resample
from curator_audio.audio_info import probe_audio
from curator_audio.sound.decoding import Span, decode_mono
from curator_audio.sound.limits import AudioLimits
from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import DataError
from tests.support.recordings import batch_of, muxed, run, tone

RATE = 44_100
FRAME = 1152
NO_HEADER = {"write_xing": "0", "id3v2_version": "0"}


def mp3(samples, *, options=None, **encoder):
    return muxed(samples, RATE, "libmp3lame", "mp3", options=options, **encoder)


def steps(seconds=0.5):
    """Return tones one after the other, so that what comes too early or too late is noticed."""
    return np.concatenate([tone(seconds, RATE, hertz=hertz) for hertz in (300, 700, 1100, 1500)])


def variable(*rates):
    """Return a file without a header whose bit rate changes, so that its first frame says nothing of the others."""
    return b"".join(mp3(steps(), options=NO_HEADER, bit_rate=rate) for rate in rates)


def mono(content, span=None):
    return decode_mono(io.BytesIO(content), RATE, AudioLimits(), span=span)


FILES = {
    "constant rate": lambda: mp3(steps(), options=NO_HEADER, bit_rate=128_000),
    "variable rate": lambda: mp3(steps(), options=NO_HEADER, q="2"),
    "high, then low": lambda: variable(320_000, 32_000),
    "low, then high": lambda: variable(32_000, 320_000),
    "tags around": lambda: (
        b"ID3\4\0\0\0\0\7\x68" + b"T" * 1000 + mp3(steps(), options=NO_HEADER, q="2") + b"TAG" + b"x" * 125
    ),
}


def count_frames(content):
    """Return the number of frames, by their headers: all of them have one sample rate and are of layer III."""
    rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    position = 1010 if content.startswith(b"ID3") else 0
    count = 0
    while content[position : position + 2] in (b"\xff\xfb", b"\xff\xfa"):
        flags = content[position + 2]
        position += 144_000 * rates[flags >> 4] // RATE + (flags >> 1 & 1)
        count += 1
    assert len(content) - position in (0, 128)
    return count


@pytest.mark.parametrize("name", FILES)
def test_without_a_header_all_of_it_is_decoded(name):
    content = FILES[name]()
    frames = count_frames(content) * FRAME
    info = probe_audio(io.BytesIO(content))
    assert (info.duration_s, info.format) == (frames / RATE, "MP3")
    whole = mono(content)
    assert len(whole) == frames
    last = np.abs(np.fft.rfft(whole[-RATE // 4 : -RATE // 20]))
    assert np.argmax(last) * 5 == pytest.approx(1500, abs=10)
    begins = 0.654321
    for span in (Span(begins, 1.25), Span(begins), Span(1.75, frames / RATE)):
        start = round(span.start_s * RATE)
        end = frames if span.end_s is None else round(span.end_s * RATE)
        part = mono(content, span)
        assert len(part) == end - start
        assert np.abs(part - whole[start:end]).max() < 1e-5
    with pytest.raises(DataError, match="not inside the"):
        mono(content, Span(0.5, frames / RATE + 0.2))


def test_a_header_is_believed_and_the_delay_of_the_encoder_left_out():
    samples = steps()
    content = mp3(samples, bit_rate=64_000)
    assert probe_audio(io.BytesIO(content)).duration_s == 2.0
    whole = mono(content)
    assert len(whole) == len(samples)
    assert np.corrcoef(whole[:RATE], samples[:RATE, 0])[0, 1] > 0.99


def test_fewer_frames_than_the_header_says_are_an_error():
    content = mp3(steps(), bit_rate=64_000)
    with pytest.raises(DataError, match="damaged"):
        mono(content[: len(content) * 2 // 3])


def test_what_is_appended_to_a_file_with_a_header_is_heard():
    one = mp3(steps(), bit_rate=64_000)
    whole = mono(one + one)
    assert len(whole) / RATE == pytest.approx(4, abs=0.1)
    assert probe_audio(io.BytesIO(one + one)).duration_s == len(whole) / RATE


def test_through_readers_and_stages(tmp_path):
    content = variable(32_000, 320_000)
    (tmp_path / "a.mp3").write_bytes(content)
    (tmp_path / "all.jsonl").write_text('{"audio_filepath": "a.mp3", "offset": 3.0, "duration": 1.0}\n')
    seconds = count_frames(content) * FRAME / RATE
    (batch,) = Pipeline(stages=[ReadFolder(str(tmp_path))]).run(LocalExecutor())
    assert batch.data["duration_s"].to_pylist() == [seconds]
    (batch,) = Pipeline(stages=[ReadManifest(str(tmp_path / "all.jsonl"), with_bytes=True)]).run(LocalExecutor())
    assert mono(batch.data["bytes"][0].as_py()) == pytest.approx(mono(content, Span(3.0, 4.0)), abs=1e-4)
    result, rows = run(Resample(RATE), batch_of(content))
    assert not result.quarantined
    assert [row["duration_s"] for row in rows] == [seconds]
