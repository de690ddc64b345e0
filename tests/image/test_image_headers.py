"""image.probe and image.size_filter: sizes come from the header, and broken files are quarantined one by one."""

import io
import random
import struct
import tracemalloc
import zlib

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from curator_core import LocalExecutor, Pipeline
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN
from curator_core.values.errors import ConfigError, DataError, StageError, UnknownNameError
from curator_image import ImageBatch, Probe, SizeFilter
from curator_image.headers import ImageHeader, read_header


def encode(width=32, height=24, file_format="PNG", mode="RGB"):
    file = io.BytesIO()
    Image.new(mode, (width, height)).save(file, file_format)
    return file.getvalue()


def png_claiming(width, height):
    """Make a valid PNG header for an image of any size, followed by hardly any pixels."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b"")
    )


def images(*encoded):
    count = len(encoded)
    return ImageBatch(
        data=pa.table(
            {
                "bytes": pa.array(encoded, pa.large_binary()),
                "caption": [f"picture {index}" for index in range(count)],
                SOURCE_COLUMN: [f"{index}.png" for index in range(count)],
                ROW_COLUMN: pa.array([0] * count, pa.int64()),
            }
        )
    )


def run(stage, batch):
    return Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])


@pytest.mark.parametrize(
    ("file_format", "mode"),
    [("JPEG", "RGB"), ("PNG", "RGBA"), ("WEBP", "RGB"), ("GIF", "P"), ("BMP", "L"), ("TIFF", "I;16")],
)
def test_header_of_every_common_format(file_format, mode):
    assert read_header(encode(31, 17, file_format, mode)) == ImageHeader(31, 17, file_format, mode)


@pytest.mark.parametrize(("width", "height"), [(0, 5), (2**31, 5), (2**32 - 1, 2**32 - 1)])
def test_sizes_that_no_format_allows_are_damage(width, height):
    with pytest.raises(DataError, match="header is damaged"):
        read_header(png_claiming(width, height))


def test_probe_adds_columns_and_keeps_the_bytes():
    batch = images(encode(), None, encode(5, 6, "JPEG", "L"))
    (out,) = run(Probe(), batch)
    assert isinstance(out, ImageBatch)
    assert out.data["width"].to_pylist() == [32, None, 5]
    assert out.data["height"].to_pylist() == [24, None, 6]
    assert out.data["format"].to_pylist() == ["PNG", None, "JPEG"]
    assert out.data["mode"].to_pylist() == ["RGB", None, "L"]
    assert out.data["bytes"].equals(batch.data["bytes"])


@pytest.mark.parametrize("stage", [Probe(), SizeFilter(min_width=1, min_height=1)], ids=lambda stage: stage.name)
def test_unreadable_images_are_quarantined_with_their_source(stage):
    good = encode()
    batch = images(good, b"", good[:20], b"not an image", good)
    result = run(stage, batch)
    (out,) = result
    assert out.data["caption"].to_pylist() == ["picture 0", "picture 4"]
    assert [(record.source, record.row) for record in result.quarantined] == [(f"{n}.png", 0) for n in (1, 2, 3)]
    assert {record.error_type for record in result.quarantined} == {"UnreadableImage"}
    assert not result.stats[stage.name].dropped
    assert result.stats[stage.name].rows_out == 2


def test_a_batch_of_unreadable_images_gives_no_output():
    result = run(SizeFilter(), images(b"x", b"y"))
    assert len(result) == 0
    assert result.quarantined_count == 2


def test_size_filter_names_the_reason():
    batch = images(encode(100, 100), encode(99, 100), encode(100, 99), encode(200, 200), None)
    stage = SizeFilter(min_width=100, min_height=100, max_pixels=20_000)
    result = run(stage, batch)
    assert [task.data["caption"].to_pylist() for task in result] == [["picture 0"]]
    assert result[0].columns == batch.columns
    assert result.stats["image.size_filter"].dropped == {
        "too_narrow": 1, "too_low": 1, "too_many_pixels": 1, "missing_value": 1,
    }  # fmt: skip


def test_size_filter_tags_with_the_number_of_pixels():
    (out,) = run(SizeFilter(tag=True), images(encode(300, 200), encode(10, 10)))
    assert out.data["size_filter_score"].to_pylist() == [60_000, 100]
    assert out.data["size_filter_reason"].to_pylist() == [None, "too_narrow"]


def test_pixel_bombs_are_measured_and_refused_in_bounded_memory():
    bombs = images(png_claiming(12_000, 12_000), png_claiming(50_000, 50_000), encode(300, 300))
    read_header(encode())  # Pillow's own modules are not what is measured
    tracemalloc.start()
    result = run(SizeFilter(), bombs)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result[0].data["caption"].to_pylist() == ["picture 2"]
    assert result.stats["image.size_filter"].dropped == {"too_many_pixels": 2}
    assert peak_bytes < 20e6


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_mutated_files_are_read_or_quarantined_and_never_crash(file_format):
    seed = encode(40, 30, file_format)
    rng = random.Random(file_format)
    mutants = []
    for _ in range(150):
        mutant = bytearray(seed[: rng.randrange(1, len(seed) + 1)] if rng.random() < 0.4 else seed)
        for _ in range(rng.randrange(1, 6)):
            mutant[rng.randrange(min(len(mutant), 200))] = rng.randrange(256)
        mutants.append(bytes(mutant))
    result = run(Probe(), images(*mutants))
    assert sum(task.num_rows for task in result) + result.quarantined_count == len(mutants)
    assert {record.error_type for record in result.quarantined} <= {"UnreadableImage"}


@pytest.mark.parametrize("stage", [Probe(), SizeFilter(min_width=20, min_height=20)], ids=lambda stage: stage.name)
@settings(max_examples=30)
@given(sizes=st.lists(st.none() | st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=6))
def test_batch_equals_concatenated_singles(stage, sizes):
    batch = images(*[None if size is None else encode(*size) for size in sizes])

    def rows(part):
        out = stage.process(ImageBatch(data=part))
        return [] if out is None else out.data.to_pylist()

    singles = [row for index in range(len(sizes)) for row in rows(batch.data.slice(index, 1))]
    assert rows(batch.data) == singles


def test_outside_a_run_an_unreadable_image_raises():
    with pytest.raises(DataError, match=r"0\.png:0: not an image"):
        Probe().process(images(b"not an image"))


def test_errors_name_the_column_and_the_fix():
    with pytest.raises(UnknownNameError, match="unknown column 'jpg'"):
        Probe(bytes_column="jpg").process(images(encode()))
    with pytest.raises(StageError, match="holds string, but encoded images"):
        Probe(bytes_column="caption").process(images(encode()))
    with pytest.raises(ConfigError, match="nothing would be kept"):
        SizeFilter(min_width=100, min_height=100, max_pixels=9_999)
