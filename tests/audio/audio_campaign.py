"""Decode mutants of recordings through a pipeline, in a process of its own: native code that crashes takes it along.

Usage: python -m tests.audio.audio_campaign FOLDER SEED FIRST COUNT FORMAT…    prints the outcomes by format as JSON.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import av
import numpy as np
import soundfile

from curator_audio import ReadFolder, Resample, SilenceFilter
from curator_core import LocalExecutor, Pipeline
from tests.support.mutation import mutate
from tests.support.recordings import encoded, muxed, tone

FILES_PER_RUN = 200
SAMPLES = 6
SUBTYPES = {"wav": ["PCM_16", "PCM_24", "FLOAT", "PCM_U8"], "flac": ["PCM_16", "PCM_24"]}
CHECKSUMMED = ("flac", "ogg", "opus")
FOR_FFMPEG = {
    "m4a": ("aac", "ipod", None),
    "aac": ("aac", "adts", None),
    "webm": ("libopus", "webm", None),
    "mka": ("flac", "matroska", None),
    "wma": ("wmav2", "asf", 64_000),
    "amr": ("libopencore_amrnb", "amr", 12_200),
}
DEMUXERS = {"m4a": "mov", "aac": "aac", "webm": "matroska", "mka": "matroska", "wma": "asf", "amr": "amr", "mp3": "mp3"}


def sample(name: str, number: int) -> bytes:
    """Return a sound recording; numbers differ in length, rate, channels and width."""
    rate = (8_000, 16_000, 48_000)[number % 3]
    subtypes = SUBTYPES.get(name, [None])
    if name == "amr":
        rate = 8_000
    channels = 1 if name == "amr" else 1 + number % 2
    samples = tone(0.2 + 0.1 * number, rate, channels, hertz=200 + 50 * number, seed=number)
    if name in FOR_FFMPEG:
        codec, container, bit_rate = FOR_FFMPEG[name]
        return muxed(samples, rate, codec, container, bit_rate=bit_rate, options={"fflags": "+bitexact"})
    return encoded(samples, rate, name, subtypes[number % len(subtypes)])


def plainly_decoded(name: str, data: bytes) -> np.ndarray | None:
    """Return what soundfile or FFmpeg by itself makes of a file; None where it refuses it, or ends before its end."""
    samples = None if name in FOR_FFMPEG else decoded_by_soundfile(data)
    return decoded_by_ffmpeg(name, data) if samples is None and name in DEMUXERS else samples


def decoded_by_ffmpeg(name: str, data: bytes) -> np.ndarray | None:
    try:
        with av.open(io.BytesIO(data), format=DEMUXERS[name], metadata_errors="replace") as container:
            frames = [frame.to_ndarray().reshape(-1) for frame in container.decode(audio=0)]
    except (av.FFmpegError, ValueError, IndexError):
        return None
    return np.concatenate(frames) if frames else np.zeros(0)


def decoded_by_soundfile(data: bytes) -> np.ndarray | None:
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as sound:
            samples = sound.read(min(sound.frames, 10**7), dtype="float32")
            return samples if len(samples) == sound.frames else None
    except (soundfile.SoundFileError, RuntimeError, ValueError, TypeError, MemoryError):
        return None


class Campaign:
    """Mutants of one format and what became of them."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.samples = [sample(name, number) for number in range(SAMPLES)]
        self.outcomes: Counter[str] = Counter()
        self.problems: list[str] = []

    def run(self, seed: int, first: int, count: int) -> None:
        for start in range(first, first + count, FILES_PER_RUN):
            self._run_some(seed, range(start, min(start + FILES_PER_RUN, first + count)))

    def _run_some(self, seed: int, indices: range) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        mutants = {}
        for index in indices:
            original, donor = self.samples[index // 10 % SAMPLES], self.samples[(index // 10 + 1) % SAMPLES]
            path = self.folder / f"{index:06}.{self.name}"
            mutants[str(path)] = (index, original, mutate(original, donor, seed=seed, index=index))
            path.write_bytes(mutants[str(path)][2].data)
        stages = [ReadFolder(str(self.folder), with_bytes=True), SilenceFilter(1.0).with_(tag=True), Resample(8_000)]
        result = Pipeline("mutants", stages=stages).run(LocalExecutor(max_attempts=1))
        rows = Counter(row["_source"] for batch in result for row in batch.data.to_pylist() if row["bytes"] is not None)
        records = Counter(record.source for record in result.quarantined)
        for record in result.quarantined:
            if record.error_type not in ("UnreadableAudio", "UnreadableFile") or record.row is None:
                self.problems.append(f"{record.source}: {record.error_type}: {record.message[:300]}")
        for path, (index, original, mutant) in mutants.items():
            self._judge(index, original, mutant, rows[path], records[path])
        for path in (rows.keys() | records.keys()) - mutants.keys():
            self.problems.append(f"lost source {path}")

    def _judge(self, index: int, original: bytes, mutant, rows: int, records: int) -> None:
        what = f"{index} ({mutant.operation})"
        if rows + records != 1:
            self.problems.append(f"{what}: {rows} rows and {records} records of one file")
        if records and mutant.data == original:
            self.problems.append(f"{what}: an unchanged file was refused")
        if rows:
            samples = plainly_decoded(self.name, mutant.data)
            if samples is None or not np.isfinite(samples).all():
                self.problems.append(f"{what}: came out, and cannot be decoded")
            elif self.name in CHECKSUMMED and not np.array_equal(samples, plainly_decoded(self.name, original)):
                self.problems.append(f"{what}: came out with other sound, and its checksums could tell")
        self.outcomes["quarantined" if records else "clean"] += 1


def main(folder: str, seed: str, first: str, count: str, *names: str) -> None:
    reports = {}
    for name in names:
        campaign = Campaign(name, Path(folder) / name)
        campaign.run(int(seed), int(first), int(count))
        reports[name] = {"outcomes": campaign.outcomes, "problems": campaign.problems}
    sys.stdout.write(json.dumps(reports))


if __name__ == "__main__":
    main(*sys.argv[1:])
