"""Headers of the common formats, read without Pillow, say what Pillow says; damage is noticed."""

import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from curator_core import TableBatch
from curator_core.values.errors import ConfigError, DataError
from curator_image import AspectFilter
from curator_image.common_headers import read_common_header, read_jpeg_frame
from curator_image.decoding import decode_rgb
from curator_image.headers import ImageHeader, open_image, read_header
from tests.support.picture_files import encoded

CASES = [
    ("JPEG", "RGB", {}), ("JPEG", "L", {}), ("JPEG", "CMYK", {}), ("JPEG", "RGB", {"progressive": True}),
    ("PNG", "1", {}), ("PNG", "L", {}), ("PNG", "LA", {}), ("PNG", "I;16", {}), ("PNG", "P", {}), ("PNG", "RGB", {}),
    ("PNG", "RGBA", {}), ("WEBP", "RGB", {}), ("WEBP", "RGBA", {}), ("WEBP", "RGB", {"lossless": True}),
    ("WEBP", "RGBA", {"lossless": True}), ("GIF", "P", {}), ("BMP", "RGB", {}), ("TIFF", "RGB", {}),
    ("TIFF", "I;16", {}), ("AVIF", "RGB", {}), ("JPEG2000", "RGB", {}),
    ("HEIF", "RGB", {}), ("HEIF", "RGBA", {}), ("HEIF", "L", {}),
]  # fmt: skip


@pytest.mark.parametrize(("file_format", "mode", "options"), CASES)
@pytest.mark.parametrize("size", [(1, 1), (37, 21), (640, 3)])
def test_headers_are_those_of_pillow(file_format, mode, options, size):
    if file_format == "JPEG2000" and min(size) == 1:
        size = (8, 8)  # the encoder takes no smaller ones
    data = encoded(Image.new(mode, size), file_format, **options)
    with open_image(data) as image:
        expected = ImageHeader(*image.size, image.format, image.mode)
    assert read_header(data) == expected


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_common_formats_are_read_without_pillow(file_format):
    assert read_common_header(memoryview(encoded(Image.new("RGB", (37, 21)), file_format))) == (
        37, 21, file_format, "RGB", 1,
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"lossless": True}], ids=["usual", "lossless"])
@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_sizes_are_those_of_the_upright_image(file_format, orientation, options):
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(Image.new("RGB", (64, 48)), file_format, exif=exif, **(options if file_format == "WEBP" else {}))
    header = read_header(data)
    assert (header.width, header.height) == ((48, 64) if orientation >= 5 else (64, 48))
    assert decode_rgb(data).shape[:2] == (header.height, header.width)


def test_the_orientation_of_a_png_may_stand_behind_its_pixels():
    data = encoded(Image.new("RGB", (64, 48)), "PNG")
    body = b"eXIfMM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    end = data.rindex(b"IEND") - 4
    turned = data[:end] + chunk + data[end:]
    assert read_header(turned) == ImageHeader(48, 64, "PNG", "RGB", 6)
    assert decode_rgb(turned).shape[:2] == (64, 48)


@given(orientation=st.integers(1, 8), text=st.text(max_size=50))
def test_orientation_of_a_jpeg(orientation, text):
    exif = Image.Exif()
    exif[0x010E] = text  # a description, in front of it
    exif[0x0112] = orientation
    data = encoded(Image.new("RGB", (9, 5)), "JPEG", exif=exif)
    assert read_jpeg_frame(memoryview(data)) == (9, 5, 3, False, orientation)


@given(
    data=st.binary(max_size=200), magic=st.sampled_from([b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBP"])
)
def test_any_bytes_are_a_header_or_an_error(data, magic):
    try:
        header = read_header(magic + data)
    except DataError:
        return
    assert header.width > 0


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_a_header_that_is_cut_off_is_an_error(file_format):
    data = encoded(Image.new("RGB", (37, 21)), file_format)
    for cut in range(12, 30):
        with pytest.raises(DataError):
            read_header(data[:cut])


def test_a_jpeg_that_is_all_segments_is_refused():
    segments = random.Random(1).randbytes(2)
    data = b"\xff\xd8" + (b"\xff\xe5\x00\x04" + segments) * 2000
    with pytest.raises(DataError, match="more than 1,000 segments"):
        read_header(data)


def test_aspect_filter_judges_by_the_header():
    batch = TableBatch(
        data={
            "bytes": [encoded(Image.new("L", size), "PNG") for size in ((90, 30), (91, 30), (30, 90), (30, 91))]
            + [None],
            "name": ["wide", "too wide", "tall", "too tall", "nothing"],
        }
    )
    assert AspectFilter().process(batch).data["name"].to_pylist() == ["wide", "tall"]
    tagged = AspectFilter(tag=True).process(batch).data
    assert tagged["aspect_filter_reason"].to_pylist() == [None, "too_wide", None, "too_tall", "missing_value"]
    assert tagged["aspect_filter_score"].to_pylist()[:1] == [3.0]
    with pytest.raises(ConfigError, match="nothing would be kept"):
        AspectFilter(min_ratio=2, max_ratio=1)
