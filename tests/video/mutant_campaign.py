"""Run damaged videos through a whole pipeline, in a process of its own: native code that crashes takes it along.

Usage: python -m tests.video.mutant_campaign FOLDER SEED FIRST COUNT FORMAT…    prints the outcomes by format as JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import av

from curator_core import LocalExecutor, Pipeline
from curator_video import ExtractAudio, MotionFilter, Read, SampleFrames, SplitScenes, VideoLimits, WriteClips
from tests.support.made_videos import make_video
from tests.support.mutation import mutate

CODECS = {"mp4": "libx264", "webm": "libvpx-vp9", "mkv": "libx264", "avi": "mpeg4", "mov": "mpeg4"}
FILES_PER_RUN = 50
SAMPLES = 6
LIMITS = VideoLimits(timeout_s=30, max_pixels=2**22)


def plain_frames(path: Path) -> int | None:
    """Return how many frames a plain loop decodes, or None where it fails: what anybody would call a bad file."""
    try:
        with av.open(str(path), metadata_errors="replace") as container:
            container.streams.video[0].codec_context.thread_count = 1
            return sum(1 for _ in container.decode(video=0)) or None
    except (av.FFmpegError, IndexError, ValueError, AttributeError, OverflowError):
        return None


class Campaign:
    """Mutants of one format and what became of them."""

    def __init__(self, name: str, folder: Path) -> None:
        self.extension = f".{name}"
        self.folder = folder
        self.outcomes: Counter[str] = Counter()
        self.problems: list[dict[str, Any]] = []
        self.samples: list[bytes] = []
        has_sound = name in ("mkv", "webm", "mp4")
        for number in range(SAMPLES):
            path = folder.parent / f"sample-{number}{self.extension}"
            options = {"deadline": "realtime", "cpu-used": "8"} if name == "webm" else {}
            container_options = {"movflags": "faststart"} if name == "mp4" and number % 2 else {}
            make_video(
                path, codec=CODECS[name], scenes=(5, 5 + number), gop=5, options=options,
                sound=has_sound and number % 3 == 0, sound_s=0.2, container_options=container_options,
            )  # fmt: skip
            self.samples.append(path.read_bytes())

    def run(self, seed: int, first: int, count: int) -> None:
        for start in range(first, first + count, FILES_PER_RUN):
            self._run_some(seed, range(start, min(start + FILES_PER_RUN, first + count)))

    def _run_some(self, seed: int, indices: range) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        sources: dict[str, tuple[int, str, bool]] = {}
        for index in indices:
            sample, donor = self.samples[index // 10 % SAMPLES], self.samples[(index // 10 + 1) % SAMPLES]
            mutant = mutate(sample, donor, seed=seed, index=index)
            path = self.folder / f"{index:06}{self.extension}"
            path.write_bytes(mutant.data)
            sources[str(path)] = (index, mutant.operation, mutant.data == sample)
        good = self.folder / f"z{self.extension}"
        good.write_bytes(self.samples[0])
        clips, records = self._curate()
        if records[str(good)] or len(clips[str(good)]) != 1:
            self._problem(indices[0], "good neighbour", str(records[str(good)]))
        for path in records.keys() - sources.keys() - {str(good)}:
            self._problem(indices[0], "lost source", str(records[path]))
        for path, (index, operation, is_same) in sources.items():
            self._judge(index, operation, path, clips[path], records[path], is_same=is_same)

    def _curate(self) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        out = self.folder / "out"
        stages = [
            Read(str(self.folder), verify="frames", limits=LIMITS),
            SplitScenes(min_scene_s=60, limits=LIMITS),  # one scene: a file gives one clip
            MotionFilter(tag=True, limits=LIMITS),
            SampleFrames(count=3, limits=LIMITS),
            ExtractAudio(limits=LIMITS),
            WriteClips(str(out), limits=LIMITS),
        ]
        result = Pipeline("mutants", stages=stages).run(LocalExecutor(max_attempts=1))
        clips: dict[str, list[Any]] = defaultdict(list)
        records: dict[str, list[Any]] = defaultdict(list)
        for manifest in out.glob("*.jsonl"):
            for line in manifest.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                clips[row["uri"]].append(out / row["clip_file"])
        for record in result.quarantined:
            records[record.source].append(f"{record.error_type}: {record.message[:200]}")
        return clips, records

    def _judge(
        self, index: int, operation: str, path: str, clips: list[Path], records: list[str], *, is_same: bool
    ) -> None:
        if len(clips) + len(records) != 1:
            self._problem(index, operation, f"{len(clips)} clips and {records}")
        if any(not record.startswith("UnreadableVideo") for record in records):
            self._problem(index, operation, f"uncaught: {records}")
        if is_same and records:
            self._problem(index, operation, f"an unchanged file was refused: {records}")
        if clips and plain_frames(Path(path)) is None:
            self._problem(index, operation, "a plain loop cannot decode it, but it was not quarantined")
        if clips and not plain_frames(clips[0]):
            self._problem(index, operation, "the clip written of it cannot be decoded")
        self.outcomes["quarantined" if records else "clean"] += 1

    def _problem(self, index: int, operation: str, what: str) -> None:
        self.problems.append({"index": index, "operation": operation, "problem": what[:400]})


def main(folder: str, seed: str, first: str, count: str, *names: str) -> None:
    av.logging.restore_default_callback()
    av.logging.set_libav_level(av.logging.FATAL)
    reports = {}
    for name in names:
        base = Path(folder) / name
        base.mkdir(parents=True, exist_ok=True)
        campaign = Campaign(name, base / "mutants")
        campaign.run(int(seed), int(first), int(count))
        reports[name] = {"outcomes": campaign.outcomes, "problems": campaign.problems}
    sys.stdout.write(json.dumps(reports))


if __name__ == "__main__":
    main(*sys.argv[1:])
