"""Pictures come out as players show them: turned, mirrored, with square pixels, their bits and their colours."""

from fractions import Fraction

import av
import numpy as np
import pytest

from curator_core import LocalExecutor, Pipeline
from curator_video import Read, SampleFrames, WriteClips
from curator_video.frame_jpeg import decode_jpeg
from tests.support.coded_videos import Coded, make_coded

WIDTH, HEIGHT = 96, 64


def corner_picture():
    """Four fields of different colours: red and green above, blue and white below."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    pixels[:32, :48, 0] = 255
    pixels[:32, 48:, 1] = 255
    pixels[32:, :48, 2] = 255
    pixels[32:, 48:] = 255
    return pixels


def make(path, *, codec="mpeg4", pixels="yuv420p", aspect=None, matrix=None, prepare=None):
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, pixels
        if aspect is not None:
            stream.codec_context.sample_aspect_ratio = stream.sample_aspect_ratio = aspect
        if matrix is not None:
            stream.set_display_matrix(matrix)
        if prepare is not None:
            prepare(stream)
        for _ in range(5):
            frame = av.VideoFrame.from_ndarray(corner_picture(), format="rgb24").reformat(format=pixels)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return str(path)


def corners(pixels):
    """Name the colours of the four corners."""
    names = {(1, 0, 0): "red", (0, 1, 0): "green", (0, 0, 1): "blue", (1, 1, 1): "white"}
    places = (pixels[8, 8], pixels[8, -8], pixels[-8, 8], pixels[-8, -8])
    return [names[tuple(int(value > 128) for value in place)] for place in places]


def sampled(path):
    result = Pipeline(stages=[Read(path), SampleFrames(count=1)]).run(LocalExecutor())
    (row,) = (row for batch in result for row in batch.data.to_pylist())
    return row, decode_jpeg(row["frames"][0])


def encoded(path, out, **settings):
    stages = [Read(path), WriteClips(str(out), mode="encode", **settings)]
    result = Pipeline(stages=stages).run(LocalExecutor())
    files = [each for task in result for each in task.paths if each.endswith(".webm")]
    return files, result.quarantined


ONE = 1 << 16
MIRRORS = {
    "left-right": ((-ONE, 0, 0, 0, ONE, 0, 0, 0, 1 << 30), ["green", "red", "white", "blue"]),
    "upside-down": ((ONE, 0, 0, 0, -ONE, 0, 0, 0, 1 << 30), ["blue", "white", "red", "green"]),
    "half-turn": ((-ONE, 0, 0, 0, -ONE, 0, 0, 0, 1 << 30), ["white", "blue", "green", "red"]),
    "clockwise": ((0, ONE, 0, -ONE, 0, 0, 0, 0, 1 << 30), ["blue", "red", "white", "green"]),
    "transposed": ((0, ONE, 0, ONE, 0, 0, 0, 0, 1 << 30), ["red", "blue", "green", "white"]),
}


@pytest.mark.parametrize("name", MIRRORS)
def test_turned_and_mirrored_pictures_come_out_as_they_are_shown(tmp_path, name):
    matrix, expected = MIRRORS[name]
    path = make(tmp_path / "a.mp4", matrix=matrix)
    row, pixels = sampled(path)
    assert corners(pixels) == expected
    assert (row["width"], row["height"]) == pixels.shape[1::-1]
    (file,), _ = encoded(path, tmp_path / "out", codec="vp9")
    with av.open(file) as container:
        again = next(container.decode(video=0)).to_ndarray(format="rgb24")
    assert corners(again) == expected
    assert again.shape == pixels.shape


@pytest.mark.parametrize(("aspect", "size"), [(Fraction(16, 11), (140, 64)), (Fraction(1, 2), (96, 128))])
def test_pixels_come_out_square(tmp_path, aspect, size):
    path = make(tmp_path / "a.mkv", aspect=aspect)
    row, pixels = sampled(path)
    assert (row["width"], row["height"]) == size
    assert pixels.shape == (size[1], size[0], 3)
    (file,), _ = encoded(path, tmp_path / "out", codec="vp9")
    again, _ = sampled(file)
    assert (again["width"], again["height"]) == size


def test_ten_bits_stay_ten_bits(tmp_path):
    path = make_coded(tmp_path / "a.mov", Coded("prores", "prores_ks", ".mov", pixels="yuv422p10le"), frames=5)
    (file,), _ = encoded(path, tmp_path / "out", codec="av1")
    with av.open(file) as container:
        assert next(container.decode(video=0)).format.name == "yuv420p10le"


@pytest.mark.parametrize(("codec", "pixels", "bits"), [("av1", "yuv422p12le", 12), ("vp9", "yuv420p10le", 10)])
def test_bits_that_cannot_be_kept_are_refused(tmp_path, codec, pixels, bits):
    path = make_coded(tmp_path / "a.mkv", Coded("ffv1", "ffv1", ".mkv", pixels=pixels), frames=5)
    files, (record,) = encoded(path, tmp_path / "out", codec=codec)
    assert files == []
    assert f"{bits} bits a sample" in record.message


@pytest.mark.parametrize("codec", ["vp9", "av1"])
def test_colours_stay_what_they_are(tmp_path, codec):
    def prepare(stream):
        context = stream.codec_context
        context.color_range, context.colorspace, context.color_primaries, context.color_trc = 2, 1, 1, 1

    path = make(tmp_path / "a.mkv", codec="ffv1", pixels="yuv444p", prepare=prepare)
    (file,), _ = encoded(path, tmp_path / "out", codec=codec, crf=5)
    with av.open(path) as source, av.open(file) as clip:
        before, after = next(source.decode(video=0)), next(clip.decode(video=0))
        assert (after.color_range, after.colorspace, after.color_primaries, after.color_trc) == (2, 1, 1, 1)
        assert np.abs(before.to_ndarray(format="rgb24").astype(int) - after.to_ndarray(format="rgb24")).mean() < 6
