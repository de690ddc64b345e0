"""Recordings made on the spot, for the tests of the audio plugin."""

import io
from fractions import Fraction

import av
import numpy as np
import pyarrow as pa
import soundfile

from curator_audio import AudioBatch
from curator_core import LocalExecutor, Pipeline

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


def muxed(samples, rate, codec, container, *, options=None, bit_rate=None, gap=None, path=None, **encoder):
    """Return samples as a file that FFmpeg writes.

    Args:
        samples: (frames, channels).
        rate: Samples per second.
        codec: FFmpeg's name of the encoder.
        container: FFmpeg's name of the format.
        options: For the container.
        bit_rate: For the encoder.
        gap: Let packets from a second on come some seconds later: (second, seconds).
        path: Where to write it first; for formats that are written twice.
        encoder: Options for the encoder.
    """
    layout = "mono" if samples.shape[1] == 1 else "stereo"
    sink = io.BytesIO() if path is None else str(path)
    with av.open(sink, "w", format=container, options=options or {}) as output:
        stream = output.add_stream(codec, rate=rate, layout=layout, options=encoder)
        if bit_rate is not None:
            stream.bit_rate = bit_rate
        stream.codec_context.open()
        resampler = av.AudioResampler(
            format=stream.codec_context.format.name,
            layout=layout,
            rate=rate,
            frame_size=stream.codec_context.frame_size or 1024,
        )
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples.T), format="fltp", layout=layout)
        frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        for part in [*resampler.resample(frame), *resampler.resample(None), None]:
            for packet in stream.encode(part):
                if gap is not None and packet.pts * packet.time_base >= gap[0]:
                    later = round(gap[1] / packet.time_base)
                    packet.pts, packet.dts = packet.pts + later, packet.dts + later
                output.mux(packet)
    return sink.getvalue() if path is None else path.read_bytes()


def decoded(content):
    """Return the samples of a file, (frames, channels), and its sample rate."""
    return soundfile.read(io.BytesIO(content), dtype="float32", always_2d=True)


def batch_of(*contents, field="bytes", **columns):
    """Return a batch with some files, or nulls, in a column."""
    table = {
        field: pa.array(contents, pa.large_binary()),
        "_source": pa.array([f"{number}.bin" for number in range(len(contents))]).dictionary_encode(),
        "_row": pa.array([0] * len(contents), pa.int64()),
        **columns,
    }
    return AudioBatch(data=pa.table(table), task_id="sounds")


_VOWELS = [(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410)]
_WIDTHS = (80, 100, 140)


def babble(seconds, rate=16_000, *, seed=0, pitch=120.0):
    """Return what detectors take for speech, (frames, 1): a gliding voice through the formants of vowels."""
    draw = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    glide = pitch * (1 + 0.1 * np.sin(2 * np.pi * 0.7 * time) + 0.05 * np.sin(2 * np.pi * 2.3 * time))
    voice = np.diff(np.floor(np.cumsum(glide) / rate), prepend=0) + draw.standard_normal(len(time)) * 0.02
    spoken = np.zeros(len(time))
    start = 0
    while start < len(time):
        syllable = voice[start : start + int(rate * draw.uniform(0.14, 0.26))]
        count = len(syllable)
        omega = 2 * np.pi * np.fft.rfftfreq(2 * count, 1 / rate)
        response = np.ones(len(omega), complex)
        for hertz, width in zip(_VOWELS[draw.integers(len(_VOWELS))], _WIDTHS, strict=True):
            peak = (2 * np.pi * hertz) ** 2
            response *= peak / (peak - omega**2 + 2j * np.pi * width * omega)
        sounding = np.fft.irfft(np.fft.rfft(syllable, 2 * count) * response, 2 * count)[:count]
        spoken[start : start + count] = sounding * np.sin(np.pi * np.arange(count) / count) ** 0.5
        start += count
    return (spoken / np.abs(spoken).max() / 2).astype(np.float32)[:, None]


def silence(seconds, rate=16_000, *, level=1e-4):
    """Return almost nothing, (frames, 1)."""
    return (np.random.default_rng(1).standard_normal((round(seconds * rate), 1)) * level).astype(np.float32)


def run(stage, *tasks):
    """Run a stage on tasks; return the result, and its rows."""
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=list(tasks))
    return result, [row for batch in result for row in batch.data.to_pylist()]
