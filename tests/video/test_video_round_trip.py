"""Whatever the container and codec: each frame comes once, in order, at its time, and so does each sound."""

import io
import itertools
import os

import av
import numpy as np
import pytest
import soundfile

from curator_core import LocalExecutor, Pipeline
from curator_video import ExtractAudio, Read, SampleFrames, VideoBatch, VideoLimits, WriteClips
from curator_video.clip import Clip
from curator_video.decoding import decode_frames
from curator_video.frame_jpeg import decode_jpeg
from curator_video.opening import open_video
from tests.support.coded_videos import Coded, beep_times, make_coded, number_in, number_of

os.environ.setdefault("SVT_LOG", "0")
QUICK = (("deadline", "realtime"), ("cpu-used", "8"))
CLOSED = (("bf", "2"), ("flags", "+cgop"), ("sc_threshold", "1000000000"))
X265 = "log-level=none:pools=none:frame-threads=1"

PICTURES = [
    Coded("h264", "libx264", ".mp4", (("bf", "0"),)),
    Coded("h264-b", "libx264", ".mp4", (("bf", "3"), ("b-pyramid", "normal"))),
    Coded("h264-open", "libx264", ".mp4", (("bf", "3"), ("x264-params", "open-gop=1"))),
    Coded("h264-mkv", "libx264", ".mkv", (("bf", "3"),)),
    Coded("h264-ts", "libx264", ".ts", (("bf", "3"),)),
    Coded("h264-open-ts", "libx264", ".ts", (("bf", "3"), ("x264-params", "open-gop=1"))),
    Coded("h264-flv", "libx264", ".flv", (("bf", "2"),)),
    Coded("h264-fragmented", "libx264", ".mp4", (("bf", "2"),), muxer=(("movflags", "frag_keyframe+empty_moov"),)),
    Coded("hevc", "libx265", ".mp4", (("x265-params", f"{X265}:open-gop=0"),)),
    Coded("hevc-open-mkv", "libx265", ".mkv", (("x265-params", f"{X265}:open-gop=1"),)),
    Coded("vp8", "libvpx", ".webm", QUICK),
    Coded("vp9", "libvpx-vp9", ".webm", QUICK),
    Coded("vp9-hidden", "libvpx-vp9", ".webm", (("cpu-used", "5"), ("lag-in-frames", "16"), ("auto-alt-ref", "1"))),
    Coded("av1", "libsvtav1", ".mp4", (("preset", "12"), ("svtav1-params", "lp=1"))),
    Coded("av1-webm", "libsvtav1", ".webm", (("preset", "12"), ("svtav1-params", "lp=1"))),
    Coded("mpeg2-ps", "mpeg2video", ".mpg", (("bf", "2"),)),
    Coded("mpeg2-ts", "mpeg2video", ".ts", (("bf", "2"),)),
    Coded("mpeg4-avi", "mpeg4", ".avi"),
    Coded("mpeg4-b", "mpeg4", ".mp4", (("bf", "2"),)),
    Coded("mjpeg", "mjpeg", ".avi", pixels="yuvj420p"),
    Coded("mjpeg-mov", "mjpeg", ".mov", pixels="yuvj420p"),
    Coded("prores", "prores_ks", ".mov", pixels="yuv422p10le"),
    Coded("ffv1", "ffv1", ".mkv"),
    Coded("gif", "gif", ".gif", pixels="rgb8"),
    Coded("wmv2", "wmv2", ".wmv"),
    Coded("h263", "flv", ".flv"),
]
FRAMES, RATE = 60, 25
UNEVEN = list(itertools.accumulate([0, *(300 if number % 7 == 3 else 40 for number in range(FRAMES - 1))]))
CUTS = (1, 7, 11, 12, 13, 25, 36, 47, 59)


def shown(path, start_s=0.0, end_s=None):
    with open_video(Clip(path), VideoLimits()) as video:
        return [(frame.time_s, number_of(frame.picture)) for frame in decode_frames(video, start_s, end_s)]


def variants(kind):
    """How the times of a video are made, and what they are."""
    even = [number / RATE for number in range(FRAMES)]
    yield {}, even
    if kind.suffix != ".avi":  # which has no times of its own
        yield {"first": 1.4}, even
    if kind.codec != "mpeg2video":  # which knows but some rates
        yield {"times": UNEVEN}, [each / 1000 for each in UNEVEN]


@pytest.mark.parametrize("kind", PICTURES, ids=lambda kind: kind.name)
def test_each_frame_comes_once_in_order_at_its_time(tmp_path, kind):
    for settings, times in variants(kind):
        path = make_coded(tmp_path / f"a{kind.suffix}", kind, **settings)
        whole = shown(path)
        assert [number for _, number in whole] == list(range(FRAMES)), settings
        assert [time_s for time_s, _ in whole] == pytest.approx(times, abs=0.011 if kind.name == "gif" else 0.0011)
        for cut in CUTS:
            assert shown(path, whole[cut][0]) == whole[cut:], (settings, cut)
        assert shown(path, whole[20][0], whole[30][0]) == whole[20:30]
        (row,) = (
            row
            for batch in Pipeline(stages=[Read(path), SampleFrames(every_s=0.33)]).run(LocalExecutor())
            for row in batch.data.to_pylist()
        )
        numbers = [number_in(decode_jpeg(each)[:, :, 0]) for each in row["frames"]]
        on_screen = [max(n for n, at in enumerate(times) if at <= 0.33 * step + 0.006) for step in range(len(numbers))]
        assert numbers == sorted(set(on_screen)), settings
        assert row["duration_s"] == pytest.approx(times[-1] + 1 / RATE, abs=0.3)


SOUNDS = [
    Coded("aac-mp4", "mpeg4", ".mp4", sound="aac"),
    Coded("aac-fragmented", "mpeg4", ".mp4", sound="aac", muxer=(("movflags", "frag_keyframe+delay_moov"),)),
    Coded("opus-mp4", "mpeg4", ".mp4", sound="libopus"),
    Coded("flac-mkv", "mpeg4", ".mkv", sound="flac"),
    Coded("opus-webm", "libvpx", ".webm", QUICK, sound="libopus"),
    Coded("mp2-ts", "mpeg2video", ".ts", sound="mp2"),
    Coded("aac-ts", "libx264", ".ts", (("bf", "2"),), sound="aac"),
    Coded("pcm-avi", "mpeg4", ".avi", sound="pcm_s16le"),
    Coded("mp3-mkv", "mpeg4", ".mkv", sound="libmp3lame"),
    Coded("pcm-mov", "mpeg4", ".mov", sound="pcm_s16le"),
    Coded("aac-flv", "libx264", ".flv", (("bf", "2"),), sound="aac"),
    Coded("ac3-mkv", "mpeg4", ".mkv", sound="ac3"),
]
BEEPS = [0.25 + 0.5 * number for number in range(4)]


def heard(path, start_s=0.0, end_s=2.4):
    batch = VideoBatch(data={"uri": [path], "_source": [path], "start_s": [start_s], "end_s": [end_s]})
    (wav,) = ExtractAudio(rate=48_000).process(batch).data["audio"].to_pylist()
    samples, rate = soundfile.read(io.BytesIO(wav))
    assert len(samples) == round((end_s - start_s) * rate)
    return beep_times(samples, rate)


@pytest.mark.parametrize("kind", SOUNDS, ids=lambda kind: kind.name)
def test_each_sound_is_heard_at_its_time(tmp_path, kind):
    for first in (0.0,) if kind.suffix == ".avi" else (0.0, 1.4):
        path = make_coded(tmp_path / f"a{kind.suffix}", kind, first=first)
        assert heard(path) == pytest.approx([*BEEPS, 2.25], abs=0.0011)
        assert heard(path, 0.7, 1.9) == pytest.approx([0.05, 0.55, 1.05], abs=0.0011)


# Neither AVI nor, for PCM, QuickTime files say when a packet is heard: a gap is not in them.
@pytest.mark.parametrize(
    "kind", [each for each in SOUNDS if not each.sound.startswith("pcm")], ids=lambda kind: kind.name
)
def test_silence_stands_in_where_sound_is_missing(tmp_path, kind):
    path = make_coded(tmp_path / f"a{kind.suffix}", kind, sound_gap=(0.6, 1.6))
    assert heard(path) == pytest.approx([0.25, 1.75, 2.25], abs=0.0011)
    assert heard(path, 1.0, 2.4) == pytest.approx([0.75, 1.25], abs=0.0011)


CLIPS = [
    Coded("h264-mp4", "libx264", ".mp4", (("bf", "3"),), sound="aac"),
    Coded("h264-mkv", "libx264", ".mkv", (("bf", "3"),), sound="aac"),
    Coded("h264-ts", "libx264", ".ts", (("bf", "3"),), sound="aac"),
    Coded("hevc-mkv", "libx265", ".mkv", (("x265-params", f"{X265}:open-gop=0:keyint=12"),), sound="ac3"),
    Coded("av1-webm", "libsvtav1", ".webm", (("preset", "12"), ("svtav1-params", "lp=1")), sound="libopus"),
    Coded("av1-mp4", "libsvtav1", ".mp4", (("preset", "12"), ("svtav1-params", "lp=1")), sound="aac"),
    Coded("vp9-webm", "libvpx-vp9", ".webm", QUICK, sound="libopus"),
    Coded("mpeg4-avi", "mpeg4", ".avi", sound="pcm_s16le"),
    Coded(
        "mpeg2-ts", "mpeg2video", ".ts", (("bf", "2"), ("flags", "+cgop"), ("sc_threshold", "1000000000")), sound="mp2"
    ),
]


def written(path, spans, out, **settings):
    batch = VideoBatch(
        data={
            "uri": [path] * len(spans),
            "_source": [path] * len(spans),
            "start_s": [start for start, _ in spans],
            "end_s": [end for _, end in spans],
        },
        task_id="3f2a/0",
    )
    stages = [WriteClips(str(out), **settings)]
    result = Pipeline(stages=stages).run(LocalExecutor(), initial_tasks=[batch])
    assert result.quarantined == []
    files = [path for task in result for path in task.paths if not path.endswith(".jsonl")]
    assert len(files) == len(spans)
    return files


def played(path):
    """What a player makes of a file: times and numbers of the frames, and times of the beeps."""
    with av.open(path) as container:
        frames = [(frame.time, number_of(frame)) for frame in container.decode(video=0)]
    with av.open(path) as container:
        rate = container.streams.audio[0].rate
        pieces, begin = [], None
        for frame in container.decode(audio=0):
            begin = frame.time if begin is None else begin
            samples = frame.to_ndarray()
            if samples.dtype == np.int16:
                samples = samples / 32768
            pieces.append(samples.reshape(-1) if frame.format.is_planar and len(samples) == 1 else samples.mean(axis=0))
            if not frame.format.is_planar:
                channels = len(frame.layout.channels)
                pieces[-1] = samples.reshape(-1, channels).mean(axis=1)
    sound = np.concatenate(pieces)
    return frames, [begin + each for each in beep_times(sound, rate)], (begin, begin + len(sound) / rate)


def check_clip(path, start_s, end_s):
    """The frames of the span and no others, and each beep as long after its frame as in the source."""
    frames, beeps, (sound_from, sound_to) = played(path)
    numbers = [number for _, number in frames]
    assert numbers == [n for n in range(FRAMES) if start_s - 1e-6 <= n / RATE < end_s - 1e-6]
    shift = frames[0][0] - numbers[0] / RATE
    assert [time for time, _ in frames] == pytest.approx([n / RATE + shift for n in numbers], abs=0.0015)
    expected = [each for each in (*BEEPS, 2.25) if start_s <= each and each + 0.05 <= end_s]
    found = [each - shift for each in beeps]
    assert [min(found, key=lambda each: abs(each - beep)) for beep in expected] == pytest.approx(expected, abs=0.0015)
    assert all(min(abs(each - beep) for beep in (*BEEPS, 2.25)) < 0.0015 for each in found)
    assert sound_from - shift <= start_s + 0.0015
    assert sound_to - shift >= end_s - 0.03


@pytest.mark.parametrize("kind", CLIPS, ids=lambda kind: kind.name)
def test_clips_cut_at_key_frames_are_copied_whole_and_in_step(tmp_path, kind):
    path = make_coded(tmp_path / f"a{kind.suffix}", kind, first=0.0 if kind.suffix == ".avi" else 1.4)
    with av.open(path) as container:
        stream = container.streams.video[0]
        start = stream.start_time or 0
        keys = sorted(
            float((each.pts - start) * stream.time_base) for each in container.demux(stream) if each.is_keyframe
        )
    assert len(keys) > 2, keys
    spans = list(itertools.pairwise([*keys, 2.4]))
    for file, (start_s, end_s) in zip(written(path, spans, tmp_path / "out", mode="copy"), spans, strict=True):
        check_clip(file, start_s, end_s)


@pytest.mark.parametrize("kind", CLIPS, ids=lambda kind: kind.name)
def test_clips_cut_anywhere_are_encoded_whole_and_in_step(tmp_path, kind):
    path = make_coded(tmp_path / f"a{kind.suffix}", kind, first=0.0 if kind.suffix == ".avi" else 1.4)
    spans = [(0.2, 1.0), (0.61, 1.83)]
    for file, (start_s, end_s) in zip(
        written(path, spans, tmp_path / "out", mode="encode", codec="vp9"), spans, strict=True
    ):
        check_clip(file, start_s, end_s)
        assert [number for _, number in shown(file)] == [number for _, number in played(file)[0]]


def test_a_clip_that_begins_while_a_frame_stands_shows_it(tmp_path):
    times = [0, 600, 1400, 1800, 2200]
    kind = Coded("slides", "libvpx", ".webm", QUICK, sound="libopus")
    path = make_coded(tmp_path / "a.webm", kind, frames=5, times=times)
    (long, short) = written(path, [(1.0, 2.0), (0.7, 1.3)], tmp_path / "out", mode="encode", codec="vp9")
    frames, beeps, _ = played(long)
    assert frames == [
        (pytest.approx(0, abs=0.002), 1),
        (pytest.approx(0.4, abs=0.002), 2),
        (pytest.approx(0.8, abs=0.002), 3),
    ]
    assert beeps == pytest.approx([0.25, 0.75], abs=0.0015)
    frames, beeps, _ = played(short)
    assert [number for _, number in frames] == [1]
    assert beeps == pytest.approx([0.05, 0.55], abs=0.0015)
