"""Find speech: the stage against a bare loop over silero-vad; and how far scores of quality agree with speechmos."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import soundfile
import soxr
from engine_comparison.environments import EnvironmentUnavailableError, interpreter

from audio_comparison.decoding import LIBROSA, run_peer
from curator_audio import AudioBatch, Quality, Vad
from curator_core.authoring.stage import WorkerInfo

if TYPE_CHECKING:
    from pathlib import Path

    from audio_comparison.prompts import Prompt

_RATE = 16_000


def write_speech(prompts: list[Prompt], folder: Path, *, count: int) -> list[Path]:
    """Write prompts at 16 kHz, so that only the detectors differ."""
    folder.mkdir(parents=True, exist_ok=True)
    spoken = [prompt for prompt in prompts if prompt.is_speech]
    paths = []
    for number, prompt in enumerate(spoken[:: max(1, len(spoken) // count)]):
        samples, rate = soundfile.read(prompt.path, dtype="float32")
        paths.append(folder / f"{number:04}.wav")
        soundfile.write(paths[-1], soxr.resample(samples, rate, _RATE), _RATE)
    return paths


def vad_cases(paths: list[Path], rounds: int) -> dict[str, Any]:
    """Return how many times as fast as real time both are, in CPU time, and how far their segments agree."""
    batch = AudioBatch(data=pa.table({"bytes": [path.read_bytes() for path in paths]}))
    stage = Vad("columns")
    stage.setup(WorkerInfo())
    ours, theirs = [], []
    for _ in range(rounds):
        fresh = batch.with_data(batch.data.slice(0))  # a table of its own: nothing of the last round is known of it
        started = time.process_time()
        found = stage.process(fresh)
        ours.append(time.process_time() - started)
        peer = run_peer(sys.executable, "vad", [str(path) for path in paths])
        theirs.append(peer["cpu_seconds"])
    assert found is not None
    spans = [[(span["start_s"], span["end_s"]) for span in each] for each in found.data["speech_segments"].to_pylist()]
    same = [np.allclose(a, b, atol=0.002) for a, b in zip(spans, peer["segments"], strict=True) if len(a) == len(b)]
    return {
        "vad, ours with decoding": round(peer["audio_seconds"] / min(ours), 1),
        "vad, bare silero loop without decoding": round(peer["audio_seconds"] / min(theirs), 1),
        "vad, recordings": len(paths),
        "vad, recordings with the same segments within 2 ms": sum(same),
    }


def vad_ratios(cases: dict[str, Any]) -> dict[str, float]:
    """Return how many times as fast ours is."""
    loop = cases["vad, bare silero loop without decoding"]
    return {"vad, ours / bare silero loop": round(cases["vad, ours with decoding"] / loop, 2)}


def quality_cases(paths: list[Path]) -> dict[str, Any]:
    """Return how far our scores are from those of the package speechmos."""
    try:
        theirs = np.array(run_peer(interpreter(LIBROSA), "quality", [str(path) for path in paths])["scores"])
    except EnvironmentUnavailableError as error:
        return {"quality": {"error": str(error)}}
    stage = Quality()
    stage.setup(WorkerInfo())
    batch = stage.process(AudioBatch(data=pa.table({"bytes": [path.read_bytes() for path in paths]})))
    assert batch is not None
    names = ("mos_signal", "mos_background", "mos_overall", "mos_p808")
    ours = np.array([batch.data[name].to_pylist() for name in names]).T
    return {
        "quality, recordings": len(paths),
        "quality, mean distance to speechmos": np.abs(ours - theirs).mean(axis=0).round(4).tolist(),
        "quality, largest distance to speechmos": np.abs(ours - theirs).max(axis=0).round(4).tolist(),
    }
