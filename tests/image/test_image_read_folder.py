"""image.read_folder through pipelines: bytes untouched, only images taken, broken files quarantined later on."""

import hashlib

import pytest
from PIL import Image

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import PipelineError
from curator_image import ImageBatch, Probe, ReadFolder, SizeFilter


@pytest.fixture
def photos(tmp_path):
    (tmp_path / "sub").mkdir()
    Image.new("RGB", (64, 48), "red").save(tmp_path / "a.jpg")
    Image.new("RGB", (10, 10), "blue").save(tmp_path / "b.png")
    Image.new("RGBA", (80, 60)).save(tmp_path / "sub" / "c.webp")
    (tmp_path / "d.gif").write_bytes(b"GIF89a")
    (tmp_path / "e.PNG").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not an image")
    return tmp_path


def test_files_come_out_as_rows_with_untouched_bytes(photos):
    result = Pipeline(stages=[ReadFolder(str(photos))]).run(LocalExecutor())
    rows = [row for batch in result for row in batch.data.to_pylist()]
    names = [row["uri"].removeprefix(f"{photos}/") for row in rows]
    assert names == ["a.jpg", "b.png", "d.gif", "e.PNG", "sub/c.webp"]
    assert all(isinstance(batch, ImageBatch) for batch in result)
    for row, name in zip(rows, names, strict=True):
        content = (photos / name).read_bytes()
        assert hashlib.sha256(row["bytes"]).digest() == hashlib.sha256(content).digest()
        assert row["size_bytes"] == len(content)
        assert (row["_source"], row["_row"]) == (row["uri"], 0)


def test_read_probe_and_filter_with_broken_files(photos):
    stages = [ReadFolder(str(photos)), Probe(), SizeFilter(min_width=20, min_height=20)]
    result = Pipeline(stages=stages).run(LocalExecutor(threads=2))
    rows = [row for batch in result for row in batch.data.to_pylist()]
    assert [(row["width"], row["height"], row["format"]) for row in rows] == [(64, 48, "JPEG"), (80, 60, "WEBP")]
    assert [record.source for record in result.quarantined] == [str(photos / "d.gif"), str(photos / "e.PNG")]
    assert result.stats["image.size_filter"].dropped == {"too_narrow": 1}


def test_references_without_bytes(photos):
    (batch,) = Pipeline(stages=[ReadFolder(str(photos / "*.png"), with_bytes=False)]).run()
    assert batch.columns == ["uri", "key", "size_bytes", "_source", "_row"]


def test_too_large_a_file_is_quarantined(photos):
    result = Pipeline(stages=[ReadFolder(str(photos / "a.jpg"), max_file_bytes=10)]).run()
    assert len(result) == 0
    (record,) = result.quarantined
    assert record.source == str(photos / "a.jpg")
    assert "larger than 10 bytes" in record.message


def test_a_folder_without_images_is_refused_before_the_run(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(PipelineError, match="has no files ending in"):
        Pipeline(stages=[ReadFolder(str(tmp_path))]).build()
