"""What comes out is right: cuts are found, clips decode and cover their source, executors agree."""

from __future__ import annotations

import hashlib
import itertools
import json
from typing import TYPE_CHECKING, Any

import av

from curator_core import LocalExecutor, Pipeline, StreamingExecutor
from curator_video import ExtractAudio, MotionFilter, Read, SampleFrames, SplitScenes, WriteClips
from video_comparison.composed import RATE

if TYPE_CHECKING:
    from pathlib import Path


def cuts(path: Path, truth: list[int], detector: str) -> dict[str, Any]:
    """Compare the scenes found with the cuts that were made; a cut is found at its very frame or not at all."""
    result = Pipeline("cuts", stages=[Read(str(path)), SplitScenes(detector=detector)]).run(LocalExecutor())
    starts = [row["start_s"] for batch in result for row in batch.data.to_pylist()]
    found = {round(start * RATE) for start in starts} - {0}
    right = len(found & set(truth))
    return {
        "cuts": len(truth),
        "found": len(found),
        "precision": round(right / len(found), 4) if found else 0.0,
        "recall": round(right / len(truth), 4),
    }


def stages(source: str, out: Path) -> list[Any]:
    """The pipeline of the comparison of executors."""
    return [
        Read(source, block_bytes=1),
        SplitScenes(),
        MotionFilter(min_motion=0.005),
        SampleFrames(count=2, max_side=256),
        ExtractAudio(),
        WriteClips(str(out)),
    ]


def executors(source: str, folder: Path) -> dict[str, Any]:
    """Run the same pipeline in this process and on Ray; compare what is written, byte by byte."""
    found = {}
    for name, executor in (("local", LocalExecutor()), ("streaming", StreamingExecutor(cpus=2))):
        out = folder / name
        result = Pipeline("clips", stages=stages(source, out)).run(executor)
        assert not result.quarantined, result.quarantined
        digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in out.iterdir()}
        found[name] = digests, result.stats["video.motion_filter"].dropped
    return {
        "files": len(found["local"][0]),
        "dropped": dict(found["local"][1]),
        "is_equal": found["local"] == found["streaming"],
    }


def clips(source: str, out: Path, split: Any) -> dict[str, Any]:
    """Split videos and write the clips; decode each of them and compare it with its span."""
    Pipeline("clips", stages=[Read(source), split, WriteClips(str(out))]).run(LocalExecutor())
    rows = [json.loads(line) for path in out.glob("*.jsonl") for line in path.read_text().splitlines()]
    wrong: list[str] = []
    by_source: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        with av.open(str(out / row["clip_file"])) as container:
            times = [frame.time for frame in container.decode(video=0)]
        frame_s = 1 / row["fps"]
        lasts = times[-1] - times[0] + frame_s
        if len(times) != row["clip_frames"] or abs(lasts - row["duration_s"]) > frame_s + 0.002:
            wrong.append(f"{row['clip_file']}: {len(times)} frames, {lasts:.3f} s")
        by_source.setdefault(row["uri"], []).append(row)
    for uri, some in by_source.items():
        some.sort(key=lambda row: row["start_s"])
        with av.open(uri) as container:
            frames = sum(1 for _ in container.decode(video=0))
        gaps = [one["end_s"] - two["start_s"] for one, two in itertools.pairwise(some)]
        if some[0]["start_s"] != 0 or any(abs(gap) > 1e-6 for gap in gaps):
            wrong.append(f"{uri}: gaps {gaps}")
        if sum(row["clip_frames"] for row in some) != frames:
            wrong.append(f"{uri}: {sum(row['clip_frames'] for row in some)} of {frames} frames")
    return {"clips": len(rows), "copied": sum(row["is_copy"] for row in rows), "wrong": wrong}
