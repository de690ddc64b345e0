"""Decode and resample recordings of each format to 16 kHz, one channel: ours against librosa in its own environment."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import soundfile
import soxr
from engine_comparison.environments import Engine, EnvironmentUnavailableError, interpreter

from curator_audio.sound.limits import AudioLimits
from curator_audio.sound.samples import mono_samples
from curator_audio.sound.source import AudioSource
from curator_core.authoring.tasks import TableBatch

if TYPE_CHECKING:
    from audio_comparison.prompts import Prompt

_HERE = Path(__file__).parent
LIBROSA = Engine(
    "",
    "librosa 0.11",
    "librosa",
    ("librosa==0.11.0", "soundfile", "soxr", "onnxruntime", "speechmos==0.0.1.1", "requests", "pandas", "tqdm"),
)
FORMATS = {
    "wav": ("WAV", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "ogg": ("OGG", "VORBIS"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
}
_RATE = 44_100
_CLIP_S = 10


def make_clips(prompts: list[Prompt], folder: Path, *, count: int) -> dict[str, list[Path]]:
    """Write clips of 10 s at 44.1 kHz in stereo, made of the prompts one after the other, in every format."""
    joined = np.concatenate([soundfile.read(prompt.path, dtype="float32")[0] for prompt in prompts if prompt.is_speech])
    spoken = soxr.resample(joined[: count * _CLIP_S * 8_000], 8_000, _RATE)
    clips: dict[str, list[Path]] = {}
    for name, (kind, subtype) in FORMATS.items():
        target = folder / name
        target.mkdir(parents=True, exist_ok=True)
        clips[name] = []
        for number in range(count):
            part = spoken[number * _CLIP_S * _RATE : (number + 1) * _CLIP_S * _RATE]
            path = target / f"{number:04}.{name}"
            soundfile.write(path, np.stack([part, part[::-1]], axis=1), _RATE, format=kind, subtype=subtype)
            clips[name].append(path)
    return clips


def decoding_cases(clips: dict[str, list[Path]], rounds: int) -> dict[str, Any]:
    """Return how many times as fast as real time each decodes, in CPU time, the best of some rounds, interleaved."""
    try:
        python: str | None = interpreter(LIBROSA)
    except EnvironmentUnavailableError as error:
        return {"decode librosa": {"error": str(error)}}
    cases: dict[str, Any] = {}
    for name, paths in clips.items():
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(_ours(paths))
            theirs.append(_theirs(str(python), paths))
        seconds = len(paths) * _CLIP_S
        cases[f"decode {name}, ours"] = round(seconds / min(ours), 1)
        cases[f"decode {name}, librosa"] = round(seconds / min(theirs), 1)
    return cases


def decoding_ratios(cases: dict[str, Any]) -> dict[str, float]:
    """Return how many times as fast ours is."""
    return {
        f"decode {name}, ours / librosa": round(cases[f"decode {name}, ours"] / cases[f"decode {name}, librosa"], 2)
        for name in FORMATS
        if f"decode {name}, ours" in cases
    }


def _ours(paths: list[Path]) -> float:
    table = pa.table({"uri": [str(path) for path in paths], "_source": [str(path) for path in paths]})
    source = AudioSource(None, "uri", AudioLimits())
    started = time.process_time()
    samples = sum(len(each) for each in mono_samples(TableBatch(data=table), source))  # type: ignore[arg-type]
    seconds = time.process_time() - started
    assert abs(samples - len(paths) * _CLIP_S * 16_000) < 2_000 * len(paths)
    return seconds


def _theirs(python: str, paths: list[Path]) -> float:
    return float(run_peer(python, "decode", [str(path) for path in paths])["cpu_seconds"])


def run_peer(python: str, what: str, arguments: list[str]) -> dict[str, Any]:
    """Run a case of ``peers.py`` in another environment."""
    done = subprocess.run(
        [python, str(_HERE / "peers.py"), what], input=json.dumps(arguments), capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))
