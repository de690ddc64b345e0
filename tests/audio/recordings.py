"""Recordings made on the spot, for the tests of the audio plugin."""

import io

import numpy as np
import pyarrow as pa
import soundfile

from curator_audio import AudioBatch

FORMATS = {
    "wav": ("WAV", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
}


def tone(seconds=1.0, rate=16_000, channels=1, *, hertz=440.0, level=0.3, seed=0):
    """Return a tone with a little noise, (frames, channels)."""
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(seed).standard_normal((len(time), channels)) * level / 20
    return (level * np.sin(2 * np.pi * hertz * time)[:, None] + noise).astype(np.float32)


def encoded(samples, rate=16_000, extension="wav", subtype=None):
    """Return samples as a file."""
    kind, usual = FORMATS[extension]
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=kind, subtype=subtype or usual)
    return buffer.getvalue()


def decoded(content):
    """Return the samples of a file, (frames, channels), and its sample rate."""
    return soundfile.read(io.BytesIO(content), dtype="float32", always_2d=True)


def batch_of(*contents, field="bytes", **columns):
    """Return a batch with some files, or nulls, in a column."""
    table = {
        field: pa.array(contents, pa.large_binary()),
        **columns,
        "_source": pa.array([f"{number}.bin" for number in range(len(contents))]).dictionary_encode(),
        "_row": pa.array([0] * len(contents), pa.int64()),
    }
    return AudioBatch(data=pa.table(table), task_id="sounds")
