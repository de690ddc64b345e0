"""What libsndfile cannot decode and FFmpeg can: M4A, AAC, WebM, Matroska, Windows Media, AMR, G.722 in WAV."""

import io
import tarfile
from dataclasses import dataclass

import av
import numpy as np
import pytest

from curator_audio import ReadFolder, ReadManifest, ReadTar, Resample, SilenceFilter, Vad, WriteManifest, WriteTar
from curator_audio.audio_info import probe_audio
from curator_audio.sound.decoding import Span, decode_mono
from curator_audio.sound.formats import audio_extension
from curator_audio.sound.limits import AudioLimits
from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import DataError
from tests.support.recordings import babble, batch_of, decoded, encoded, muxed, silence, tone


@dataclass(frozen=True)
class Case:
    """A format: how FFmpeg calls it, how files are called, and how many samples come out of 2 s beyond them."""

    codec: str
    container: str
    extension: str
    format: str
    rate: int = 44_100
    bit_rate: int | None = None
    delay: int = 0
    extra: int = 0
    is_probed_exactly: bool = True


CASES = {
    "m4a, aac": Case("aac", "ipod", "m4a", "MP4"),
    "m4a, alac": Case("alac", "ipod", "m4a", "MP4"),
    "mp4, flac": Case("flac", "mp4", "m4a", "MP4"),
    "mp4, opus": Case("libopus", "mp4", "m4a", "MP4", 48_000),
    "3gp, amr": Case("libopencore_amrnb", "3gp", "m4a", "MP4", 8_000, 12_200, delay=-10),
    "aac": Case("aac", "adts", "aac", "AAC", delay=1024, extra=1912),  # nothing in the file speaks of the delay
    "webm, opus": Case("libopus", "webm", "webm", "WEBM", 48_000),
    "matroska, aac": Case("aac", "matroska", "mka", "MATROSKA", extra=888),
    "matroska, mp3": Case("libmp3lame", "matroska", "mka", "MATROSKA"),
    "matroska, flac": Case("flac", "matroska", "mka", "MATROSKA", is_probed_exactly=False),
    "amr": Case("libopencore_amrnb", "amr", "amr", "AMR", 8_000, 12_200, delay=40, extra=160),
    "g722 in wav": Case("g722", "wav", "wav", "WAV", 16_000, delay=22),
    "mp3 in wav": Case("libmp3lame", "wav", "wav", "WAV", delay=1105, extra=1656),
    "wma": Case("wmav2", "asf", "wma", "ASF", bit_rate=128_000, delay=-2048, extra=-136, is_probed_exactly=False),
}
each_format = pytest.mark.parametrize("name", CASES)


def sweep(rate, seconds=2.0):
    """Return a sound that is nowhere like elsewhere, so that samples in the wrong place are noticed."""
    time = np.arange(round(seconds * rate)) / rate
    return (0.3 * np.sin(2 * np.pi * (200 + 300 * time) * time)).astype(np.float32)[:, None]


def made(name, samples=None, **options):
    case = CASES[name]
    samples = sweep(case.rate) if samples is None else samples
    return muxed(samples, case.rate, case.codec, case.container, bit_rate=case.bit_rate, **options)


def mono(content, rate=16_000, span=None, channel="mean", **limits):
    return decode_mono(io.BytesIO(content), rate, AudioLimits(**limits), span=span, channel=channel)


def why_refused(content, **limits):
    with pytest.raises(DataError) as refused:
        mono(content, **limits)
    return refused.value.message


@each_format
def test_all_of_it_is_decoded_and_lies_where_it_was(name):
    case = CASES[name]
    content = made(name)
    whole = mono(content, case.rate)
    assert len(whole) == 2 * case.rate + case.extra
    expected = sweep(case.rate)[2048:-4000, 0]
    assert np.corrcoef(whole[2048 + case.delay :][: len(expected)], expected)[0, 1] > 0.94
    info = probe_audio(io.BytesIO(content))
    assert (info.sample_rate, info.channels, info.format) == (case.rate, 1, case.format)
    exact = len(whole) / case.rate
    assert info.duration_s == (exact if case.is_probed_exactly else pytest.approx(exact, abs=0.1))
    assert audio_extension(io.BytesIO(content)) == case.extension


@each_format
def test_a_part_is_what_it_is_of_the_whole(name):
    case = CASES[name]
    content = made(name)
    whole = mono(content, case.rate)
    for span in (Span(0.0, 0.25), Span(0.612345, 1.3), Span(1.5)):
        start = round(span.start_s * case.rate)
        end = None if span.end_s is None else round(span.end_s * case.rate)
        part = mono(content, case.rate, span)
        assert len(part) == len(whole[start:end])
        # Telephone codecs and Opus build on all that came before; after a quarter of a second, little of it is left.
        assert np.abs(part - whole[start:end]).max() < 0.02
    with pytest.raises(DataError, match="not inside the"):
        mono(content, span=Span(1.0, 2.5))


@each_format
def test_torn_files_are_refused(name, tmp_path):
    if CASES[name].container in ("ipod", "mp4", "3gp"):  # with the index at the beginning
        content = made(name, options={"movflags": "+faststart"}, path=tmp_path / "whole")
    else:
        content = made(name)
    assert len(mono(content))
    for end in (12, 60, len(content) // 2, len(content) - 7):
        assert why_refused(content[:end])


def test_damage_is_noticed():
    flac = bytearray(made("mp4, flac"))
    flac[len(flac) // 2] ^= 0x10
    assert "damaged" in why_refused(bytes(flac))
    aac = made("aac")
    middle = len(aac) // 2
    assert "damaged" in why_refused(aac[:middle] + bytes(40) + aac[middle + 40 :])
    assert "damaged" in why_refused(aac[:middle] + aac[middle + 40 :])
    assert len(mono(b"ID3\4\0\0\0\0\0\5....." + aac + b"TAG" + bytes(125))) == len(mono(aac))


@pytest.mark.parametrize("name", ["m4a, aac", "webm, opus", "matroska, flac", "wma"])
def test_a_jump_in_the_time_stamps_is_silence(name):
    rate = CASES[name].rate
    whole = mono(made(name), rate)
    content = made(name, gap=(1.0, 0.75))
    out = mono(content, rate)
    shift = len(out) - len(whole)
    assert shift / rate == pytest.approx(0.75, abs=0.002)
    assert np.abs(out[round(1.15 * rate) : round(1.6 * rate)]).max() < 1e-3
    assert np.abs(out[round(1.95 * rate) :] - whole[-len(out[round(1.95 * rate) :]) :]).max() < 0.02
    assert probe_audio(io.BytesIO(content)).duration_s == pytest.approx(len(out) / rate, abs=0.05)
    part = mono(content, rate, Span(1.9, 2.5))
    assert np.abs(part - out[round(1.9 * rate) : round(2.5 * rate)]).max() < 0.02


def test_silence_does_not_outlast_the_limit():
    content = made("webm, opus", gap=(1.0, 90_000.0))
    assert len(content) < 40_000
    assert "longer than max_duration_s=3600" in why_refused(content)


def test_an_edit_list_that_begins_within_the_sound():
    """As editors write it that cut the beginning off without touching the sound."""
    content, skipped = made("m4a, aac"), 5_000
    sink = io.BytesIO()
    options = {"avoid_negative_ts": "disabled"}
    with av.open(io.BytesIO(content)) as source, av.open(sink, "w", format="ipod", options=options) as output:
        stream = output.add_stream_from_template(source.streams.audio[0])
        for packet in source.demux(source.streams.audio[0]):
            if packet.dts is not None:
                packet.pts, packet.dts, packet.stream = packet.pts - skipped, packet.dts - skipped, stream
                output.mux(packet)
    whole, edited = mono(content, 44_100), mono(sink.getvalue(), 44_100)
    assert len(edited) == len(whole) - skipped
    assert np.abs(edited - whole[skipped:]).max() < 1e-6
    assert probe_audio(io.BytesIO(sink.getvalue())).duration_s == len(edited) / 44_100
    part = mono(sink.getvalue(), 44_100, Span(1.4, 1.6))
    assert np.abs(part - edited[round(1.4 * 44_100) : round(1.6 * 44_100)]).max() < 1e-4


def test_limits():
    content = made("m4a, aac")
    assert "it lasts 2 s, longer than max_duration_s=1" in why_refused(content, max_duration_s=1)
    assert len(mono(content, span=Span(0.5, 1.25), max_duration_s=1)) == 12_000


def test_wide_samples_stay_wide():
    samples = tone(0.5, 44_100)
    content = muxed(samples, 44_100, "alac", "ipod")
    assert np.abs(mono(content, 44_100) - samples[:, 0]).max() < 1e-6
    batch = batch_of(content)
    row = Resample(44_100, subtype="PCM_24").process(batch).data.to_pylist()[0]
    assert np.abs(decoded(row["bytes"])[0] - samples).max() < 1e-6


def with_picture(content):
    """Return a file with a cover picture before its sound track."""
    sink = io.BytesIO()
    with av.open(io.BytesIO(content)) as source, av.open(sink, "w", format="mp4") as output:
        video = output.add_stream("mjpeg", rate=1, options={"strict": "-1"})
        video.width = video.height = 16
        video.pix_fmt = "yuvj420p"
        video.disposition = av.stream.Disposition.attached_pic
        sound = output.add_stream_from_template(source.streams.audio[0])
        picture = av.VideoFrame(16, 16, "yuvj420p")
        picture.pts = 0
        output.mux(video.encode(picture))
        output.mux(video.encode(None))
        for packet in source.demux(source.streams.audio[0]):
            if packet.dts is not None:
                packet.stream = sound
                output.mux(packet)
    return sink.getvalue()


def test_a_cover_picture_is_no_obstacle():
    content = made("m4a, aac")
    assert np.array_equal(mono(with_picture(content)), mono(content))


def test_a_file_without_sound_says_so(tmp_path):
    sink = io.BytesIO()
    with av.open(sink, "w", format="matroska") as output:
        video = output.add_stream("mjpeg", rate=1, options={"strict": "-1"})
        video.width = video.height = 16
        video.pix_fmt = "yuvj420p"
        picture = av.VideoFrame(16, 16, "yuvj420p")
        picture.pts = 0
        output.mux(video.encode(picture))
        output.mux(video.encode(None))
    assert why_refused(sink.getvalue()) == "the file has no sound track"


def test_no_other_file_is_opened(tmp_path):
    """A file whose content is a play list, or that begins like another format, makes FFmpeg open nothing."""
    (tmp_path / "secret.wav").write_bytes(encoded(tone(1)))
    for text in ("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{}\n", "ffconcat version 1.0\nfile '{}'\n"):
        assert "cannot be opened as audio" in why_refused(text.format(tmp_path / "secret.wav").encode())
        assert why_refused(b"\0\0\0\x20ftypM4A " + text.format(tmp_path / "secret.wav").encode())


def test_damage_in_the_delay_of_the_encoder_is_damage():
    """The sound that is heard first builds on it."""
    content = made("m4a, aac")
    begin = content.index(b"mdat") + 4
    assert "damaged" in why_refused(content[:begin] + bytes(200) + content[begin + 200 :])


def test_an_empty_or_foreign_body_is_refused():
    heads = (b"\0\0\0\x20ftypM4A ", b"\xff\xf1\x50\x80\x01\x3f\xfc", b"\x1aE\xdf\xa3", b"0&\xb2u\x8ef\xcf\x11")
    for head in heads:
        assert why_refused(head + bytes(2000))


def test_readers_take_them_and_count_the_rest(tmp_path):
    for number, (name, case) in enumerate(CASES.items()):
        (tmp_path / f"{number:02}.{case.extension}").write_bytes(made(name))
    (tmp_path / "film.mp4").write_bytes(made("m4a, aac"))
    (tmp_path / "notes.txt").write_text("no sound")
    result = Pipeline(stages=[ReadFolder(str(tmp_path))]).run(LocalExecutor())
    rows = [row for batch in result for row in batch.data.to_pylist()]
    assert [(row["format"], row["sample_rate"]) for row in rows] == [
        (case.format, case.rate) for case in CASES.values()
    ]
    assert all(row["duration_s"] == pytest.approx(2, abs=0.06) for row in rows)
    assert not result.quarantined
    assert result.stats["audio.read_folder.files"].counters == {"ignored files: .mp4": 1, "ignored files: .txt": 1}
    named = Pipeline(stages=[ReadFolder(str(tmp_path / "*.mp4"))]).run(LocalExecutor())
    assert named[0].data["format"].to_pylist() == ["MP4"]


def test_shards_and_manifests_name_them_by_their_content(tmp_path):
    names = ("m4a, aac", "aac", "webm, opus", "matroska, aac", "wma", "amr")
    contents = [made(name) for name in names]
    batch = batch_of(*contents, key=[f"{number}" for number in range(len(names))])
    Pipeline(stages=[WriteTar(str(tmp_path / "tar"))]).run(LocalExecutor(), initial_tasks=[batch])
    (shard,) = (tmp_path / "tar").glob("*.tar")
    with tarfile.open(shard) as archive:
        kinds = [name for name in archive.getnames() if not name.endswith("json")]
    assert kinds == [f"{number}.{CASES[name].extension}" for number, name in enumerate(names)]
    (back,) = Pipeline(stages=[ReadTar(str(shard))]).run(LocalExecutor())
    assert back.data["bytes"].to_pylist() == contents
    Pipeline(stages=[WriteManifest(str(tmp_path / "manifest"))]).run(LocalExecutor(), initial_tasks=[batch])
    (manifest,) = (tmp_path / "manifest").glob("*.jsonl")
    (read,) = Pipeline(stages=[ReadManifest(str(manifest), with_bytes=True)]).run(LocalExecutor())
    assert read.data["bytes"].to_pylist() == contents


def test_speech_is_found_and_cut_out(tmp_path):
    talk = np.concatenate([silence(1.0), babble(1.5), silence(1.0), babble(1.0, seed=2), silence(0.5)])
    path = tmp_path / "talk.m4a"
    path.write_bytes(muxed(talk, 16_000, "aac", "ipod", bit_rate=64_000))
    reader = ReadFolder(str(tmp_path), with_bytes=True)
    (batch,) = Pipeline(stages=[reader, SilenceFilter(), Vad()]).run(LocalExecutor())
    rows = batch.data.to_pylist()
    assert [row["offset_s"] for row in rows] == [pytest.approx(1.0, abs=0.2), pytest.approx(3.5, abs=0.25)]
    whole = mono(path.read_bytes())
    for row in rows:
        start, end = (round(row[name] * 16_000) for name in ("segment_start_s", "segment_end_s"))
        assert np.abs(decoded(row["bytes"])[0][:, 0] - whole[start:end]).max() < 1e-4
    (by_reference,) = Pipeline(stages=[ReadFolder(str(tmp_path)), Vad(bytes_column=None)]).run(LocalExecutor())
    assert by_reference.data["offset_s"].to_pylist() == [row["offset_s"] for row in rows]
