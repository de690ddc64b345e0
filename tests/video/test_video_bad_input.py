"""Bad and odd files: one quarantined row each, whatever the stage; defined behaviour for what is merely unusual."""

import io
import time
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError, DataError
from curator_video import (
    ExtractAudio,
    MotionFilter,
    Read,
    SampleFrames,
    SplitFixed,
    SplitScenes,
    VideoBatch,
    VideoLimits,
    WriteClips,
)
from curator_video.clip import Clip
from curator_video.decoding import decode_frames
from curator_video.opening import open_video
from curator_video.video_info import probe_video
from tests.support.made_videos import make_video, tone
from tests.support.peak_memory import forget_peak, peak_mib

STAGES = [
    SplitScenes(), MotionFilter(), SampleFrames(count=2), SampleFrames(every_s=0.1, layout="rows"), ExtractAudio(),
]  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    return make_video(folder / "good.mp4", scenes=(12, 12), container_options={"movflags": "faststart"}, sound=True)


@pytest.mark.parametrize("stage", [*STAGES, WriteClips("out")], ids=lambda stage: stage.name)
def test_a_bad_file_is_one_quarantined_row_in_every_stage(good, tmp_path, stage, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.mp4").write_text("not a video at all\n" * 50)
    (tmp_path / "empty.mp4").write_bytes(b"")
    names = [good, str(tmp_path / "text.mp4"), str(tmp_path / "empty.mp4"), str(tmp_path / "missing.mp4"), good]
    batch = VideoBatch(data={"uri": names, "_source": names, "_row": [0] * 5}, task_id="3f2a/0")
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    assert [record.source for record in result.quarantined] == names[1:4]
    assert {record.error_type for record in result.quarantined} == {"UnreadableVideo"}
    assert sum(task.num_items for task in result) >= 2


def test_a_truncated_file_is_found_out_by_whoever_reads_it(good, tmp_path):
    path = tmp_path / "cut.mp4"
    path.write_bytes(Path(good).read_bytes()[: len(Path(good).read_bytes()) // 3])
    assert probe_video(Clip(str(path))).duration_s == pytest.approx(2), "its head is whole"
    for verify in ("packets", "frames"):
        with pytest.raises(DataError):
            probe_video(Clip(str(path)), verify=verify)
    for stage in STAGES[:2]:
        result = Pipeline(stages=[Read(str(path)), stage]).run(LocalExecutor())
        assert (len(result), len(result.quarantined)) == (0, 1)


def test_verification_measures_what_the_file_says(good):
    expected = probe_video(Clip(good))
    for verify in ("packets", "frames"):
        assert probe_video(Clip(good), verify=verify) == expected


def test_the_time_limit_stops_decoding_between_frames(good):
    batch = VideoBatch(data={"uri": [good], "_source": [good]})
    for stage in (SplitScenes, MotionFilter, ExtractAudio):
        result = Pipeline(stages=[stage(limits=VideoLimits(timeout_s=1e-9))]).run(
            LocalExecutor(), initial_tasks=[batch]
        )
        assert (
            "took more than 1e-09 s" in result.quarantined[0].message
            or "Immediate exit" in result.quarantined[0].message
        )


def test_the_time_limit_counts_while_frames_are_taken(good):
    def slowly():
        with open_video(Clip(good), VideoLimits(timeout_s=0.2)) as video:
            for _ in decode_frames(video):
                time.sleep(0.03)

    with pytest.raises(DataError, match="took more than"):
        slowly()


def test_frames_larger_than_allowed_are_refused(tmp_path):
    path = make_video(tmp_path / "large.mp4", width=320, height=240, scenes=(3,))
    with pytest.raises(DataError, match="larger than max_pixels"):
        probe_video(Clip(path), VideoLimits(max_pixels=320 * 239))
    assert probe_video(Clip(path), VideoLimits(max_pixels=320 * 240)).width == 320


def test_a_header_that_claims_a_huge_frame_takes_no_memory(tmp_path):
    path = tmp_path / "bomb.avi"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mjpeg", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuvj420p"
        container.mux([*stream.encode(av.VideoFrame(64, 48, "yuvj420p")), *stream.encode()])
    head = bytes.fromhex("ffc000110800300040")  # begin of frame, 17 bytes, 8 bits, 48 rows, 64 columns
    assert head in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(head, bytes.fromhex("ffc0001108ea60ea60")))
    forget_peak()
    before = peak_mib()
    with pytest.raises(DataError):
        probe_video(Clip(str(path)), VideoLimits(max_pixels=10**7))
    assert peak_mib() - before < 200


def test_too_long_a_video_and_too_many_streams_are_refused(good):
    with pytest.raises(DataError, match="max_duration_s"):
        probe_video(Clip(good), VideoLimits(max_duration_s=1))
    with pytest.raises(DataError, match="max_streams"):
        probe_video(Clip(good), VideoLimits(max_streams=1))
    with pytest.raises(ConfigError, match="must be positive"):
        VideoLimits(timeout_s=0)


def test_a_cover_picture_is_no_video(tmp_path):
    path = tmp_path / "song.mkv"
    with av.open(str(path), "w") as container:
        track = container.add_stream("libopus", rate=48_000, layout="mono")
        for frame in tone(0.5):
            container.mux(track.encode(frame))
        container.mux(track.encode())
    with pytest.raises(DataError, match="no video stream"):
        probe_video(Clip(str(path)))


def test_of_several_streams_the_first_of_each_kind_is_taken(tmp_path):
    path = tmp_path / "two.mkv"
    with av.open(str(path), "w") as container:
        streams = []
        for width in (64, 96):
            stream = container.add_stream("mpeg4", rate=10)
            stream.width, stream.height, stream.pix_fmt = width, 48, "yuv420p"
            streams.append((stream, width))
        for number in range(10):
            for stream, width in streams:
                frame = av.VideoFrame.from_ndarray(np.full((48, width, 3), number * 20, np.uint8), format="rgb24")
                container.mux(stream.encode(frame))
        for stream, _ in streams:
            container.mux(stream.encode())
    assert probe_video(Clip(str(path))).width == 64
    (row,) = (
        SampleFrames(count=2).process(VideoBatch(data={"uri": [str(path)], "_source": [str(path)]})).data.to_pylist()
    )
    assert len(row["frames"]) == 2


def test_a_stream_without_a_duration_is_measured(tmp_path):
    sink = io.BytesIO()
    sink.seekable = lambda: False  # what is written to a pipe cannot be completed afterwards
    with av.open(sink, "w", format="webm", options={"live": "1"}) as container:
        stream = container.add_stream("libvpx-vp9", rate=10, options={"deadline": "realtime"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(25):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), number * 9, np.uint8), format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, 10)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    path = tmp_path / "live.webm"
    path.write_bytes(sink.getvalue())
    (row,) = [
        row for batch in Pipeline(stages=[Read(str(path))]).run(LocalExecutor()) for row in batch.data.to_pylist()
    ]
    assert (row["duration_s"], row["end_s"]) == (None, None)
    clips = SplitFixed(length_s=1, min_rest_s=0.1).process(VideoBatch(data=[row])).data.to_pylist()
    assert [clip["end_s"] for clip in clips] == pytest.approx([1, 2, 2.5], abs=0.05)
    assert probe_video(Clip(str(path)), verify="packets").duration_s == pytest.approx(2.5, abs=0.05)
    (sampled,) = (
        SampleFrames(count=2).process(VideoBatch(data={"uri": [str(path)], "_source": [str(path)]})).data.to_pylist()
    )
    assert sampled["frame_times_s"] == pytest.approx([0.6, 1.8], abs=0.11)


def test_files_are_closed_after_errors_too(good, tmp_path):
    open_files = Path("/proc/self/fd")
    if not open_files.is_dir():
        pytest.skip("counts open files through /proc")
    bad = tmp_path / "cut.mp4"
    bad.write_bytes(Path(good).read_bytes()[:3000])
    batch = VideoBatch(data={"uri": [good, str(bad)] * 5, "_source": [good, str(bad)] * 5})

    def run():
        for stage in [*STAGES, WriteClips(str(tmp_path / "out"))]:
            Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])

    run()
    before = len(list(open_files.iterdir()))
    run()
    assert len(list(open_files.iterdir())) <= before


def test_a_video_that_changes_its_size_on_the_way_is_one_video(tmp_path):
    path = tmp_path / "changing.webm"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libvpx-vp9", rate=10, options={"deadline": "realtime"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        other = av.CodecContext.create("libvpx-vp9", "w")
        other.width, other.height, other.pix_fmt, other.time_base = 128, 96, "yuv420p", Fraction(1, 10)
        other.options = {"deadline": "realtime"}
        for encoder, side, begin in ((stream, 64, 0), (other, 128, 10)):
            packets = []
            for number in range(begin, begin + 10):
                pixels = np.full((side * 3 // 4, side, 3), number * 9, np.uint8)
                frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
                frame.pts, frame.time_base = number, Fraction(1, 10)
                packets += encoder.encode(frame)
            for packet in [*packets, *encoder.encode(None)]:
                packet.stream = stream
                container.mux(packet)
    assert probe_video(Clip(str(path)), verify="frames").num_frames == 20
    batch = VideoBatch(data={"uri": [str(path)], "_source": [str(path)]}, task_id="3f2a/0")
    for stage in [*STAGES, WriteClips(str(tmp_path / "out"), mode="encode")]:
        result = Pipeline(stages=[stage.with_(name=stage.name)]).run(LocalExecutor(), initial_tasks=[batch])
        assert result.quarantined == [], stage.name
