"""image.quality_filter and image.phash: what they measure, and that neighbours decode an image once."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageEnhance

from curator_core import LocalExecutor, Pipeline
from curator_core.authoring.derived import known_of
from curator_core.authoring.tasks import ROW_COLUMN, SOURCE_COLUMN
from curator_core.values.errors import ConfigError
from curator_image import ImageBatch, Phash, QualityFilter
from curator_image.headers import MAX_PIXELS
from curator_image.phash import perceptual_hashes
from tests.support.picture_files import blurred, encoded, scene


def images(*values):
    return ImageBatch(
        data={
            "bytes": list(values),
            "name": [f"picture {number}" for number in range(len(values))],
            SOURCE_COLUMN: [f"{number}.jpg" for number in range(len(values))],
            ROW_COLUMN: [0] * len(values),
        }
    )


def run(batch, *stages):
    return Pipeline(stages=list(stages)).run(LocalExecutor(), initial_tasks=[batch])


def test_with_tag_all_measures_are_columns():
    stage = QualityFilter(tag=True)
    (out,) = run(images(encoded(scene(), "JPEG"), encoded(Image.new("RGB", (300, 300)), "JPEG")), stage)
    rows = out.data.to_pylist()
    assert [row["quality_filter_reason"] for row in rows] == [None, "low_entropy"]
    assert rows[0]["quality_filter_sharpness"] == rows[0]["quality_filter_score"] > 20
    assert (rows[1]["quality_filter_brightness"], rows[1]["quality_filter_entropy"]) == (0, 0)
    assert set(stage.outputs()) == set(out.data.column_names) - {"bytes", "name", SOURCE_COLUMN, ROW_COLUMN}


def bits_between(one, other):
    return (one ^ other).bit_count()


def hashes(*values):
    return Phash().process(images(*values)).data["phash"].to_pylist()


def test_each_reason():
    picture = scene(1, 640, 480)
    batch = images(
        encoded(picture),
        encoded(blurred(picture, 12)),
        encoded(ImageEnhance.Brightness(picture).enhance(0.02), "PNG"),
        encoded(Image.eval(picture, lambda value: 250 + value // 64), "PNG"),
        encoded(Image.new("RGB", (300, 300), "teal")),
        None,
        b"no image",
    )
    result = run(batch, QualityFilter(min_sharpness=50, max_brightness=0.95, min_entropy=0.5))
    assert [row["name"] for task in result for row in task.data.to_pylist()] == ["picture 0"]
    assert result.stats["image.quality_filter"].dropped == {
        "blurred": 1, "too_dark": 1, "too_bright": 1, "low_entropy": 1, "missing_value": 1,
    }  # fmt: skip
    assert [(record.source, record.error_type) for record in result.quarantined] == [("6.jpg", "UnreadableImage")]


def test_sharpness_falls_with_blur_and_does_not_depend_on_the_size():
    def sharpness(*pictures):
        batch = images(*(encoded(each, "PNG") for each in pictures))
        return QualityFilter(tag=True).process(batch).data["quality_filter_score"].to_pylist()

    picture = scene(2, 800, 600)
    by_blur = sharpness(*(blurred(picture, radius) for radius in (0, 2, 4, 8, 16)))
    assert by_blur == sorted(by_blur, reverse=True)
    assert by_blur[0] > 20 * by_blur[-1]
    small, large = sharpness(picture.resize((400, 300), Image.BOX), picture.resize((1600, 1200), Image.BOX))
    assert 0.5 < small / large < 2


def test_limits_that_are_off_do_not_judge():
    stage = QualityFilter(min_sharpness=None, min_brightness=None, max_brightness=None, min_entropy=None)
    assert stage.process(images(encoded(Image.new("L", (9, 9), 0)))).num_rows == 1
    with pytest.raises(ConfigError, match="nothing would be kept"):
        QualityFilter(min_brightness=0.9, max_brightness=0.1)


def test_the_hash_is_that_of_the_definition():
    thumbnails = np.random.default_rng(0).integers(0, 256, (5, 32, 32)).astype(np.uint8)
    for thumbnail, found in zip(thumbnails, perceptual_hashes(thumbnails).tolist(), strict=True):
        low = np.zeros((8, 8))
        for u in range(8):
            for v in range(8):
                waves = np.outer(
                    np.cos(np.pi * u * (2 * np.arange(32) + 1) / 64), np.cos(np.pi * v * (2 * np.arange(32) + 1) / 64)
                )
                low[u, v] = (thumbnail * waves).sum()
        bits = (low > np.median(low)).reshape(-1)
        assert found == sum(1 << int(position) for position in np.flatnonzero(bits))


def test_copies_are_near_and_others_far():
    pictures = [scene(seed, 400, 300) for seed in range(8)]
    originals = hashes(*(encoded(each) for each in pictures))
    for copy in (
        lambda each: encoded(each, quality=40),
        lambda each: encoded(each.resize((200, 150)), "JPEG"),
        lambda each: encoded(each.resize((800, 600)), "PNG"),
        lambda each: encoded(each, "WEBP", quality=60),
    ):
        distances = [bits_between(*pair) for pair in zip(originals, hashes(*map(copy, pictures)), strict=True)]
        assert max(distances) <= 6, distances
        assert np.median(distances) <= 2, distances
    apart = [bits_between(one, other) for at, one in enumerate(originals) for other in originals[:at]]
    assert min(apart) > 12


def test_a_photo_turned_by_exif_has_the_hash_of_the_turned_pixels():
    exif = Image.Exif()
    exif[0x0112] = 6
    picture = scene(4)
    turned = encoded(picture, "PNG", exif=exif)
    assert hashes(turned) == hashes(encoded(picture.transpose(Image.Transpose.ROTATE_270), "PNG"))


def test_rows_without_an_image_have_no_hash():
    result = run(images(encoded(scene()), None, b"broken"), Phash())
    (out,) = result
    assert out.data["phash"].type == "uint64"
    assert out.data["phash"].null_count == 1
    assert out.data["name"].to_pylist() == ["picture 0", "picture 1"]
    assert result.quarantined_count == 1
    assert run(images(b"x", b"y"), Phash()).quarantined_count == 2


def test_neighbours_decode_an_image_once():
    batch = images(encoded(scene(1)), encoded(Image.new("L", (300, 300), 0)), b"broken", encoded(scene(2)))
    key = ("image.look", MAX_PIXELS)
    with pytest.raises(Exception, match="not an image"):
        QualityFilter().process(batch)
    result = run(batch, QualityFilter(), Phash())
    assert result.quarantined_count == 1  # and not a second time by the next stage
    kept = images(encoded(scene(1)), encoded(Image.new("L", (300, 300), 0)), encoded(scene(2)))
    filtered = QualityFilter().process(kept)
    looks = known_of(filtered.data, "bytes", key)
    assert len(looks) == filtered.num_rows == 2
    # What the next stage makes of it comes from there: other thumbnails, other hashes.
    looks.replace_column(looks.get_column_index("thumbnail"), pl.Series("thumbnail", [bytes(1024)] * 2))
    assert Phash().process(filtered).data["phash"].to_pylist() == [0, 0]


@pytest.mark.parametrize("stage", [QualityFilter(), Phash()], ids=lambda stage: stage.name)
@settings(max_examples=15)
@given(seeds=st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=5))
def test_batch_equals_concatenated_singles(stage, seeds):
    batch = images(*[None if seed is None else encoded(scene(seed, 64, 48)) for seed in seeds])

    def rows(part):
        out = stage.process(ImageBatch(data=part))
        return [] if out is None else out.data.to_pylist()

    assert rows(batch.data) == [row for index in range(len(seeds)) for row in rows(batch.data.slice(index, 1))]
