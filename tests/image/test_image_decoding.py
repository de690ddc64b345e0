"""Decoding: every kind of image as a viewer shows it, scaled while decoding, damage refused, bombs never unpacked."""

import random
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms, ImageOps

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import DataError
from curator_image import ImageBatch, Phash, Probe, QualityFilter, ReadFolder, ReadTar, WriteTar, decoding, heif
from curator_image.decoding import decode_grey, decode_rgb
from tests.support.picture_files import encoded, scene


def close(found, expected, tolerance=3):
    difference = np.abs(np.asarray(found, np.int16) - np.asarray(expected, np.int16))
    return found.shape == np.asarray(expected).shape and difference.mean() <= tolerance


def test_transparency_is_over_white():
    image = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    image.putpixel((0, 0), (0, 0, 255, 255))
    pixels = decode_rgb(encoded(image, "PNG"))
    assert pixels[0, 0].tolist() == [0, 0, 255]
    assert pixels[1, 1].tolist() == [255, 255, 255]
    palette = Image.new("P", (4, 4), 1)
    palette.putpalette([0, 0, 0, 9, 9, 9])
    data = encoded(palette, "PNG", transparency=1)
    assert (decode_rgb(data) == 255).all()
    assert decode_grey(encoded(Image.new("LA", (3, 3), (10, 0)), "PNG"), side=8).getpixel((1, 1)) == 255


def test_palettes_become_colours():
    image = scene().quantize(64)
    assert close(decode_rgb(encoded(image, "GIF")), image.convert("RGB"))
    assert close(decode_rgb(encoded(image, "PNG")), image.convert("RGB"))


def test_sixteen_bits_and_floats_are_scaled():
    values = np.linspace(0, 65535, 64 * 64).reshape(64, 64)
    for file_format in ("PNG", "TIFF"):
        grey = np.asarray(decode_grey(encoded(Image.fromarray(values.astype(np.uint16)), file_format), side=64))
        assert (grey[0, 0], grey[-1, -1]) == (0, 255)
        assert 120 <= grey.mean() <= 134
    floats = np.asarray(decode_grey(encoded(Image.fromarray(values.astype(np.float32)), "TIFF"), side=64))
    assert (floats.min(), floats.max()) == (0, 255)


def test_cmyk_becomes_rgb():
    image = scene().convert("CMYK")
    for file_format, tolerance in (("TIFF", 1), ("JPEG", 6)):
        assert close(decode_rgb(encoded(image, file_format)), image.convert("RGB"), tolerance)
    assert decode_grey(encoded(image.resize((2000, 1500)), "JPEG"), side=100).size == (250, 188)


def test_lab_becomes_rgb_and_grey():
    image = scene(width=80, height=60)
    profiles = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
    lab = ImageCms.profileToProfile(image, *profiles, outputMode="LAB")
    data = encoded(lab, "TIFF")
    assert close(decode_rgb(data), image, 12)
    assert close(np.asarray(decode_grey(data, side=400)), image.convert("L"), 12)


def test_of_animations_the_first_frame_counts():
    frames = [Image.new("RGB", (20, 10), colour) for colour in ("red", "lime", "blue")]
    for file_format in ("GIF", "WEBP", "PNG"):
        data = encoded(frames[0], file_format, save_all=True, append_images=frames[1:])
        assert close(decode_rgb(data), frames[0], 3)


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_turned_as_exif_says(file_format, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = scene(width=80, height=60)
    options = {"quality": 95, "subsampling": 0} if file_format == "JPEG" else {}
    data = encoded(image, file_format, exif=exif, **options)
    image.getexif()[0x0112] = orientation
    expected = ImageOps.exif_transpose(image)
    image.getexif().clear()
    assert close(decode_rgb(data), expected, 12)
    assert decode_grey(data, side=400).size == expected.size


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}, {"quality": 30}])
@pytest.mark.parametrize("size", [(1024, 768), (333, 777), (40, 2000), (5, 5)])
def test_with_and_without_simplejpeg_the_pixels_are_the_same(monkeypatch, options, size):
    for mode in ("RGB", "L"):
        data = encoded(scene(3).resize(size).convert(mode), "JPEG", **options)
        grey, rgb = np.asarray(decode_grey(data, side=128)), decode_rgb(data, side=64)
        with monkeypatch.context() as patched:
            patched.setattr(decoding, "_turbo_jpeg", lambda: None)
            np.testing.assert_array_equal(np.asarray(decode_grey(data, side=128)), grey)
            np.testing.assert_array_equal(decode_rgb(data, side=64), rgb)
        assert min(size) < 128 or 128 <= min(grey.shape) < 256


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_a_scaled_decode_is_near_the_full_one(file_format):
    image = scene(5, 1280, 960)
    data = encoded(image, file_format)
    expected = image.convert("L").reduce(4)
    assert close(np.asarray(decode_grey(data, side=200)), expected, 3)
    assert decode_rgb(data, side=448).shape[:2] == (480, 640)
    assert decode_rgb(data).shape == (960, 1280, 3)


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "HEIF"])
def test_images_that_are_cut_off_or_mislabelled_are_refused(file_format):
    data = encoded(scene(), file_format)
    for damaged in (data[: len(data) // 2], data[:-100], b"", b"not an image", data[:12] + b"\0" * 500):
        with pytest.raises(DataError):
            decode_grey(damaged, side=64)
        with pytest.raises(DataError):
            decode_rgb(damaged)


def test_bytes_behind_the_last_pixel_do_no_harm():
    data = encoded(scene(), "JPEG")
    assert decode_grey(data[:-2] + b"\0\0\0" + data[-2:], side=64).size == (160, 120)
    assert decode_grey(data + b"trailer", side=64).size == (160, 120)


def png_claiming(width, height):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b"")


def claiming(data, width, height):
    """Return a JPEG, GIF or HEIF that claims another size."""
    if data.startswith(b"GIF"):
        return data[:6] + struct.pack("<HH", width, height) + data[10:]
    if data[4:8] == b"ftyp":
        at = data.index(b"ispe") + 8
        return data[:at] + struct.pack(">II", width, height) + data[at + 8 :]
    at = next(at for at in range(len(data)) if data[at : at + 2] in (b"\xff\xc0", b"\xff\xc2"))
    return data[: at + 5] + struct.pack(">HH", height, width) + data[at + 9 :]


def test_pixel_bombs_are_refused_from_the_header_in_bounded_memory():
    small = scene(width=16, height=16)
    bombs = [
        png_claiming(50_000, 50_000),
        claiming(encoded(small, "JPEG"), 60_000, 60_000),
        claiming(encoded(small, "JPEG", progressive=True), 60_000, 60_000),
        claiming(encoded(small, "GIF"), 60_000, 60_000),
        claiming(encoded(scene(width=64, height=64), "HEIF"), 60_000, 60_000),
        claiming(encoded(small, "HEIF"), 30_000, 30_000),  # of which it shows 16 by 16
    ]
    decode_grey(encoded(small, "PNG"), side=8)  # Pillow's own modules are not what is measured
    tracemalloc.start()
    for bomb in bombs:
        with pytest.raises(DataError, match="more than 89,478,485"):
            decode_grey(bomb, side=64)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6
    with pytest.raises(DataError, match="more than 100;"):
        decode_rgb(encoded(small, "PNG"), max_pixels=100)


def test_a_heif_has_as_many_pixels_as_it_claims():
    picture = Image.new("RGB", (512, 512), "red")
    with pytest.raises(DataError, match="exceeds the maximum image size"):
        decode_rgb(claiming(encoded(picture, "HEIF"), 64, 64), max_pixels=5000)
    with pytest.raises(DataError, match="does not have the size"):
        decode_rgb(claiming(encoded(scene(width=64, height=64), "HEIF"), 60, 60))


def test_heif_files_say_what_is_missing_to_read_them(monkeypatch):
    monkeypatch.setattr(heif, "_factory", lambda: None)
    batch = ImageBatch(data={"bytes": [encoded(scene(), kind) for kind in ("HEIF", "JPEG")]})
    result = Pipeline(stages=[Probe()]).run(LocalExecutor(), initial_tasks=[batch])
    (record,) = result.quarantined
    assert "pip install 'curator-image[heif]'" in record.message
    assert result[0].data["format"].to_pylist() == ["JPEG"]


def test_photos_of_phones_go_all_the_way(tmp_path):
    (tmp_path / "in").mkdir()
    turned = Image.Exif()
    turned[0x0112] = 6
    for name, options in (("IMG_1.HEIC", {"exif": turned}), ("IMG_2.heif", {}), ("IMG_3.hif", {"quality": 90})):
        (tmp_path / "in" / name).write_bytes(encoded(scene(3), "HEIF", **options))
    stages = [ReadFolder(str(tmp_path / "in")), Probe(), QualityFilter(), Phash(), WriteTar(str(tmp_path / "out"))]
    result = Pipeline(stages=stages).run(LocalExecutor())
    assert not result.quarantined
    (batch,) = Pipeline(stages=[ReadTar(str(tmp_path / "out"))]).run(LocalExecutor())
    rows = batch.data.select(["key", "extension", "width", "height", "format"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        ("IMG_1", "HEIC", 240, 320, "HEIF"),
        ("IMG_2", "heif", 320, 240, "HEIF"),
        ("IMG_3", "hif", 320, 240, "HEIF"),
    ]
    assert batch.data["bytes"][1].as_py() == (tmp_path / "in/IMG_2.heif").read_bytes()
    assert close(decode_rgb(batch.data["bytes"][2].as_py()), scene(3), 6)


def test_a_progressive_jpeg_of_thousands_of_scans_is_refused():
    data = encoded(scene(), "JPEG", progressive=True)
    start = data.rindex(b"\xff\xda")
    with pytest.raises(DataError, match="scans"):
        decode_grey(data[:start] + data[start:-2] * 300 + data[-2:], side=64)


def test_damaged_metadata_of_a_sound_picture_does_no_harm():
    exif = Image.Exif()
    exif[0x0112] = 6
    rng = random.Random(1)
    for _ in range(20):
        raw = bytearray(exif.tobytes())
        raw[rng.randrange(6, len(raw))] = rng.randrange(256)
        for file_format in ("JPEG", "PNG", "WEBP"):
            assert decode_rgb(encoded(scene(), file_format, exif=bytes(raw))).shape[2] == 3
