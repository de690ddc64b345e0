"""CPU seconds of the same work done by our stages and by plain loops, in turns."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import cv2
from av.video.reformatter import VideoReformatter
from scenedetect import AdaptiveDetector, ContentDetector, detect

from curator_video import SampleFrames, SplitScenes, VideoBatch
from curator_video.clip import Clip
from curator_video.decoding import ROUGH, decode_frames
from curator_video.limits import VideoLimits
from curator_video.opening import open_video, quieten_ffmpeg

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WIDTH = 256
FRAMES = 4


def decode_ours(path: str) -> int:
    """Decode every frame straight to a small picture."""
    small, count = VideoReformatter(), 0
    with open_video(Clip(path), VideoLimits()) as video:
        for frame in decode_frames(video, options=ROUGH):
            size = WIDTH, round(frame.picture.height * WIDTH / frame.picture.width)
            small.reformat(frame.picture, *size, "bgr24", interpolation="FAST_BILINEAR", threads=1).to_ndarray()
            count += 1
    return count


def decode_theirs(path: str) -> int:
    """Decode every frame with OpenCV and scale it down."""
    count = 0
    for frame in _opencv(path):
        cv2.resize(frame, (WIDTH, round(frame.shape[0] * WIDTH / frame.shape[1])), interpolation=cv2.INTER_LINEAR)
        count += 1
    return count


def scenes_ours(path: str, detector: str) -> list[float]:
    """Return when scenes begin, by our stage."""
    batch = VideoBatch(data={"uri": [path], "_source": [path]})
    return SplitScenes(detector=detector).process(batch).data["start_s"].to_pylist()


def scenes_theirs(path: str, detector: str) -> list[float]:
    """Return when scenes begin, by PySceneDetect alone: its detector, its decoding with OpenCV, its scaling."""
    found = detect(path, {"adaptive": AdaptiveDetector, "content": ContentDetector}[detector]())
    return [start.seconds for start, _ in found] or [0.0]


def sample_ours(path: str) -> int:
    """Return the bytes of some frames as JPEG."""
    batch = VideoBatch(data={"uri": [path], "_source": [path]})
    return sum(len(each) for each in SampleFrames(count=FRAMES).process(batch).data["frames"][0].as_py())


def sample_theirs(path: str) -> int:
    """The same with OpenCV, which decodes what it passes but makes pictures only of what is wanted."""
    capture = cv2.VideoCapture(path)
    frames = int(capture.get(cv2.CAP_PROP_FRAME_COUNT))
    wanted = {int((number + 0.5) * frames / FRAMES) for number in range(FRAMES)}
    size = 0
    for number in range(max(wanted) + 1):
        capture.grab()
        if number in wanted:
            size += len(cv2.imencode(".jpg", capture.retrieve()[1], [cv2.IMWRITE_JPEG_QUALITY, 90])[1])
    capture.release()
    return size


def compare(paths: list[Path], rounds: int) -> dict[str, Any]:
    """Time all pairs in turns; return CPU seconds and frames of each case."""
    cv2.setNumThreads(1)
    quieten_ffmpeg()
    pairs: dict[str, tuple[Callable[[str], Any], Callable[[str], Any]]] = {
        "decode to small frames": (decode_ours, decode_theirs),
        "scenes, adaptive": (lambda path: scenes_ours(path, "adaptive"), lambda path: scenes_theirs(path, "adaptive")),
        "scenes, content": (lambda path: scenes_ours(path, "content"), lambda path: scenes_theirs(path, "content")),
        f"{FRAMES} frames as JPEG": (sample_ours, sample_theirs),
    }
    frames = {str(path): decode_theirs(str(path)) for path in paths}
    return {
        f"{name}, {path.stem}": _case(pair, str(path), frames[str(path)], rounds)
        for path in paths
        for name, pair in pairs.items()
    }


def _case(pair: tuple[Callable[[str], Any], Callable[[str], Any]], path: str, frames: int, rounds: int) -> dict:
    seconds: tuple[list[float], list[float]] = ([], [])
    results = [each(path) for each in pair]  # they also warm up
    for number in range(rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            started = time.process_time()
            pair[side](path)
            seconds[side].append(time.process_time() - started)
    ratios = [theirs / ours for ours, theirs in zip(*seconds, strict=True)]
    scenes = [[round(each, 2) for each in result] for result in results if isinstance(result, list)]
    return {
        "frames": frames,
        **({"scenes": len(scenes[0]), "is_same": scenes[0] == scenes[1]} if scenes else {}),
        "ours_cpu_s": round(min(seconds[0]), 4),
        "theirs_cpu_s": round(min(seconds[1]), 4),
        "ours_frames_per_cpu_s": round(frames / min(seconds[0])),
        "theirs_frames_per_cpu_s": round(frames / min(seconds[1])),
        "ratio": round(statistics.median(ratios), 3),
    }


def _opencv(path: str):
    capture = cv2.VideoCapture(path)
    try:
        while (read := capture.read())[0]:
            yield read[1]
    finally:
        capture.release()
