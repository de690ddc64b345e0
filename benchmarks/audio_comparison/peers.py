"""What peers do with recordings: a program for other environments. Imports and loading of models are not timed.

Usage: python peers.py CASE < JSON list of paths. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

warnings.simplefilter("ignore")


def decode(paths):
    import librosa

    librosa.load(paths[0], sr=16_000, mono=True)
    started = time.process_time()
    for path in paths:
        librosa.load(path, sr=16_000, mono=True)
    return {"cpu_seconds": time.process_time() - started}


def vad(paths):
    """Do what the silero-vad package shows: load its ONNX model and ask for the timestamps of each recording."""
    import soundfile
    import torch
    from silero_vad import get_speech_timestamps, load_silero_vad

    torch.set_num_threads(1)
    model = load_silero_vad(onnx=True)
    recordings = [torch.from_numpy(soundfile.read(path, dtype="float32")[0]) for path in paths]
    started = time.process_time()
    found = [get_speech_timestamps(recording, model) for recording in recordings]
    seconds = time.process_time() - started
    spans = [[(span["start"] / 16_000, span["end"] / 16_000) for span in each] for each in found]
    return {"cpu_seconds": seconds, "segments": spans, "audio_seconds": sum(map(len, recordings)) / 16_000}


def quality(paths):
    import soundfile
    from speechmos import dnsmos

    scores = []
    for path in paths:
        samples, rate = soundfile.read(path, dtype="float32")
        found = dnsmos.run(samples.clip(-1, 1), rate)
        scores.append([float(found[name]) for name in ("sig_mos", "bak_mos", "ovrl_mos", "p808_mos")])
    return {"scores": scores}


if __name__ == "__main__":
    print(json.dumps({"decode": decode, "vad": vad, "quality": quality}[sys.argv[1]](json.load(sys.stdin))))
