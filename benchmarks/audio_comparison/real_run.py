"""Real recordings end to end: the same files from both executors, what the detector keeps, what a recogniser hears."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import jiwer
import soundfile

from audio_comparison.other_sounds import RATE, other_sounds
from curator_audio import Asr, ReadManifest, Resample, SilenceFilter, Vad, WerFilter, WriteManifest, WriteTar
from curator_audio.speech.transcripts import normalise
from curator_core import LocalExecutor, Pipeline, StreamingExecutor

if TYPE_CHECKING:
    from pathlib import Path

    from audio_comparison.prompts import Prompt


def run_real(prompts: list[Prompt], folder: Path, *, recognised: int) -> dict[str, Any]:
    """Run the pipelines and return the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = _write_manifest(prompts, folder)
    figures = _kept_by_vad(manifest)
    figures |= _equal_outputs(manifest, folder)
    spoken = [prompt for prompt in prompts if len(normalise(prompt.text).split()) >= 3]
    sample = _manifest_of(folder / "sample.jsonl", spoken[:: max(1, len(spoken) // recognised)][:recognised])
    return figures | _heard(sample)


def _write_manifest(prompts: list[Prompt], folder: Path) -> Path:
    """Write one manifest of the prompts and of generated sounds."""
    path = _manifest_of(folder / "all.jsonl", prompts)
    with path.open("a") as lines:
        for name, samples in other_sounds().items():
            sound = folder / f"{name.replace(' ', '_')}.flac"
            soundfile.write(sound, samples, RATE)
            row = {"audio_filepath": sound.name, "text": "", "kind": "generated"}
            lines.write(json.dumps(row) + "\n")
    return path


def _manifest_of(path: Path, prompts: list[Prompt]) -> Path:
    rows = [
        {
            "audio_filepath": str(prompt.path),
            "text": prompt.text,
            "kind": "speech" if prompt.is_speech else "other prompt",
        }
        for prompt in prompts
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _kept_by_vad(manifest: Path) -> dict[str, Any]:
    """Count what the detector keeps of each kind, with all its defaults."""
    stages = [ReadManifest(str(manifest)), Vad(bytes_column=None)]
    kept = {row["uri"] for batch in Pipeline(stages=stages).run(LocalExecutor()) for row in batch.data.to_pylist()}
    everything = Pipeline(stages=stages[:1]).run(LocalExecutor())
    counts: dict[str, list[int]] = {}
    for batch in everything:
        for row in batch.data.select(["uri", "kind"]).to_pylist():
            total = counts.setdefault(row["kind"], [0, 0])
            total[0] += row["uri"] in kept
            total[1] += 1
    other = [counts["other prompt"][place] + counts["generated"][place] for place in (0, 1)]
    return {
        "vad keeps of speech prompts": f"{counts['speech'][0]} of {counts['speech'][1]}",
        "vad drops of prompts without speech": f"{_dropped(counts['other prompt'])}",
        "vad drops of generated sounds": f"{_dropped(counts['generated'])}",
        "vad, fraction of speech kept": round(counts["speech"][0] / counts["speech"][1], 4),
        "vad, fraction of the rest dropped": round(1 - other[0] / other[1], 4),
    }


def _dropped(count: list[int]) -> str:
    return f"{count[1] - count[0]} of {count[1]}"


def _equal_outputs(manifest: Path, folder: Path) -> dict[str, Any]:
    """Run a whole pipeline on both executors and compare all files that it writes."""
    digests = []
    for name, executor in (("local", LocalExecutor()), ("streaming", StreamingExecutor())):
        for kind, writer in (("manifest", WriteManifest), ("tar", WriteTar)):
            stages = [
                ReadManifest(str(manifest), with_bytes=True, block_bytes=2**14),
                Resample(16_000),
                SilenceFilter(0.95),
                Vad(max_segment_s=15.0),
                writer(str(folder / name / kind)),
            ]
            result = Pipeline("prompts", stages=stages).run(executor)
            assert not result.quarantined, result.quarantined[0]
        digests.append(
            {
                str(path.relative_to(folder / name)): hashlib.sha256(path.read_bytes()).hexdigest()
                for path in sorted((folder / name).rglob("*"))
                if path.is_file()
            }
        )
    segments = sum(name.endswith(".flac") for name in digests[0])
    return {
        "files written by each executor": len(digests[0]),
        "segments written": segments,
        "both executors write the same files, byte for byte": digests[0] == digests[1],
    }


def _heard(manifest: Path) -> dict[str, Any]:
    """Return the word error rate of PocketSphinx, over all words and by what the filter would keep."""
    stages = [
        ReadManifest(str(manifest)),
        Asr(backend="pocketsphinx", bytes_column=None),
        WerFilter(max_wer=0.5).with_(tag=True),
    ]
    rows = [row for batch in Pipeline(stages=stages).run(LocalExecutor()) for row in batch.data.to_pylist()]
    pairs = [(normalise(row["text"]), normalise(row["transcript"])) for row in rows]
    return {
        "pocketsphinx, prompts": len(rows),
        "pocketsphinx, words": sum(len(reference.split()) for reference, _ in pairs),
        "pocketsphinx, word error rate": round(jiwer.wer([a for a, _ in pairs], [b for _, b in pairs]), 3),
        "pocketsphinx, prompts with at most half of their words wrong": sum(
            row["wer_filter_reason"] is None for row in rows
        ),
    }
