"""video.read and video.duration_filter on small videos made on the spot."""

from pathlib import Path

import av
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.values.errors import ConfigError, DataError
from curator_video import DurationFilter, Read, VideoBatch
from curator_video.clip import Clip
from curator_video.probe import Probe
from curator_video.video_info import probe_video


def encode(path, codec="mpeg4", frames=12, rate=6, width=64, height=48, *, sound=False):
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        track = container.add_stream("libopus", rate=48_000, layout="mono") if sound else None
        for number in range(frames):
            pixels = np.full((height, width, 3), number * 10 % 256, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
        if track:
            silence = av.AudioFrame.from_ndarray(np.zeros((1, 960), np.float32), format="fltp", layout="mono")
            silence.sample_rate = 48_000
            container.mux(track.encode(silence))
            container.mux(track.encode())
    return str(path)


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    encode(folder / "a.mp4")
    encode(folder / "b.webm", "libvpx-vp9", frames=24, rate=12, sound=True)
    encode(folder / "c.mkv", frames=60, rate=10, width=32, height=16)
    return folder


def test_every_file_becomes_a_row(videos):
    result = Pipeline(stages=[Read(str(videos))]).run(LocalExecutor())
    rows = {Path(row["uri"]).name: row for batch in result for row in batch.data.to_pylist()}
    assert all(isinstance(batch, VideoBatch) for batch in result)
    expected = {
        "a.mp4": (64, 48, 6.0, 2.0, "mpeg4", 12, False),
        "b.webm": (64, 48, 12.0, 2.0, "vp9", 24, True),
        "c.mkv": (32, 16, 10.0, 6.0, "mpeg4", 60, False),
    }
    assert list(rows) == list(expected)
    for name, (width, height, fps, duration_s, codec, num_frames, has_audio) in expected.items():
        row = rows[name]
        assert (row["width"], row["height"], row["codec"], row["has_audio"]) == (width, height, codec, has_audio)
        assert row["fps"] == pytest.approx(fps)
        assert row["duration_s"] == pytest.approx(duration_s, abs=1 / fps)
        assert row["num_frames"] == pytest.approx(num_frames, abs=1)
        assert row["size_bytes"] == (videos / name).stat().st_size
        assert (row["_source"], row["_row"]) == (str(videos / name), 0)


def test_broken_files_are_quarantined_one_by_one(videos, tmp_path, capfd):
    good = (videos / "a.mp4").read_bytes()
    (tmp_path / "0.mp4").write_bytes(good)
    (tmp_path / "1.mp4").write_bytes(good[:300])
    (tmp_path / "2.mp4").write_bytes(b"")
    (tmp_path / "3.mp4").write_text("#EXTM3U\n#EXTINF:2,\n0.mp4\n#EXT-X-ENDLIST\n")
    (tmp_path / "4.webm").write_bytes((videos / "b.webm").read_bytes())
    result = Pipeline(stages=[Read(str(tmp_path))]).run(LocalExecutor())
    uris = [uri for batch in result for uri in batch.data["uri"].to_pylist()]
    assert uris == [str(tmp_path / "0.mp4"), str(tmp_path / "4.webm")]
    assert [record.source for record in result.quarantined] == [str(tmp_path / f"{n}.mp4") for n in (1, 2, 3)]
    assert {record.error_type for record in result.quarantined} == {"UnreadableVideo"}
    assert capfd.readouterr() == ("", "")


def test_play_lists_are_not_followed(videos, tmp_path):
    target = encode(tmp_path / "private.ts", "mpeg2video")
    listing = tmp_path / "list.m3u8"
    listing.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:2,\n{target}\n#EXT-X-ENDLIST\n")
    with pytest.raises(DataError, match="cannot be opened as a video"):
        probe_video(Clip(str(listing)))


def test_sound_without_pictures_is_no_video(tmp_path):
    path = tmp_path / "sound.mkv"
    with av.open(str(path), "w") as container:
        track = container.add_stream("libopus", rate=48_000, layout="mono")
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 960), np.float32), format="fltp", layout="mono")
        silence.sample_rate = 48_000
        container.mux(track.encode(silence))
        container.mux(track.encode())
    with pytest.raises(DataError, match="no video stream"):
        probe_video(Clip(str(path)))


def test_names_that_look_like_protocols_are_files(videos, tmp_path, monkeypatch):
    (tmp_path / "concat:a|b.mp4").write_bytes((videos / "a.mp4").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert probe_video(Clip("concat:a|b.mp4")).codec == "mpeg4"


def test_files_are_closed(videos):
    open_files = Path("/proc/self/fd")
    if not open_files.is_dir():
        pytest.skip("counts open files through /proc")
    before = len(list(open_files.iterdir()))
    for _ in range(20):
        probe_video(Clip(str(videos / "a.mp4")))
        with pytest.raises(DataError):
            probe_video(Clip(__file__))
    assert len(list(open_files.iterdir())) <= before


def test_mutated_files_never_crash_the_run(videos, tmp_path):
    rng = np.random.default_rng(0)
    for name in ("a.mp4", "b.webm", "c.mkv"):
        seed = np.frombuffer((videos / name).read_bytes(), np.uint8)
        for number in range(40):
            mutant = seed.copy()[: int(rng.integers(1, len(seed) + 1))]
            mutant[rng.integers(0, len(mutant), 8)] = rng.integers(0, 256, 8)
            (tmp_path / f"{number}-{name}").write_bytes(mutant.tobytes())
    result = Pipeline(stages=[Read(str(tmp_path))]).run(LocalExecutor(threads=2))
    assert sum(batch.num_rows for batch in result) + result.quarantined_count == 120
    assert {record.error_type for record in result.quarantined} == {"UnreadableVideo"}


def test_remote_paths_are_refused_at_once():
    with pytest.raises(ConfigError, match="is not a local path"):
        Read("s3://bucket/a.mp4")
    with pytest.raises(ConfigError, match="is not a local path"):
        Read(["a.mp4", "http://example.org/a.mp4"])


def test_columns_are_known_when_the_pipeline_is_built(videos):
    plan = Pipeline(stages=[Read(str(videos)), DurationFilter()]).build()
    assert {"uri", "duration_s", "num_frames"} <= set(plan.stages[-1].columns)


def test_duration_filter_names_the_reason(videos):
    result = Pipeline(stages=[Read(str(videos)), DurationFilter(min_s=1, max_s=4)]).run()
    kept = [Path(uri).name for batch in result for uri in batch.data["uri"].to_pylist()]
    assert kept == ["a.mp4", "b.webm"]
    assert result.stats["video.duration_filter"].dropped == {"too_long": 1}


def test_duration_filter_bounds():
    batch = TableBatch(data={"duration_s": [1.9, 2.0, 5.0, 5.1, None], "n": [0, 1, 2, 3, 4]})
    result = Pipeline(stages=[DurationFilter(max_s=5)]).run(initial_tasks=[batch])
    assert result[0].data["n"].to_pylist() == [1, 2]
    assert result.stats["video.duration_filter"].dropped == {"too_short": 1, "too_long": 1, "missing_value": 1}
    with pytest.raises(ConfigError, match="min_s=5 is more than max_s=2"):
        DurationFilter(min_s=5, max_s=2)


@given(durations=st.lists(st.none() | st.floats(0, 100), min_size=1, max_size=8))
def test_duration_filter_judges_rows_alone(durations):
    table = pa.table({"duration_s": pa.array(durations, pa.float64())})

    def rows(part):
        out = DurationFilter(max_s=50).process(VideoBatch(data=part))
        return [] if out is None else out.data.to_pylist()

    assert rows(table) == [row for index in range(len(durations)) for row in rows(table.slice(index, 1))]


def test_probe_works_on_any_table_of_paths_row_by_row(videos):
    paths = [str(videos / "c.mkv"), None, str(videos / "a.mp4")]
    table = pa.table({"uri": paths, "_source": [str(videos / "m.jsonl")] * 3})
    whole = Probe().process(VideoBatch(data=table)).data
    singles = [Probe().process(VideoBatch(data=table.slice(index, 1))).data for index in range(3)]
    assert whole.equals(pa.concat_tables(singles))
    assert whole["width"].to_pylist() == [32, None, 64]
