"""The image plugin keeps the rules."""

import atexit
import functools
import io
import shutil
import tarfile
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from curator_core import EmptyTask
from curator_devkit.testing import Example, parametrize_with_checks
from curator_image import plugin
from curator_image.batch import ImageBatch
from curator_image.embed import Embed
from curator_image.read_folder import ReadFolder
from curator_image.tar import ReadTar, WriteTar
from tests.support.tiny_vision_models import vision_model

SIZES = [(40, 30), (300, 400), (640, 480)]


def encoded(size: tuple[int, int]) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "teal").save(file, "PNG")
    return file.getvalue()


@functools.cache
def folder() -> Path:
    path = Path(tempfile.mkdtemp(prefix="conformance-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    for number, size in enumerate(SIZES):
        (path / f"{number}.png").write_bytes(encoded(size))
    with tarfile.open(path / "images.tar", "w") as archive:
        for number in range(len(SIZES)):
            archive.add(path / f"{number}.png", f"{number}.png")
    pq.write_table(pa.table({"bytes": [encoded(size) for size in SIZES]}), path / "images.parquet")
    return path


def images(stage=None) -> Example:
    columns = {
        "key": [str(number) for number in range(len(SIZES))],
        "bytes": pa.array([encoded(size) for size in SIZES], pa.large_binary()),
        "_source": pa.array([f"{number}.png" for number in range(len(SIZES))]).dictionary_encode(),
        "_row": pa.array([0] * len(SIZES), pa.int64()),
    }
    return Example(stage=stage, tasks=[ImageBatch(data=columns, task_id="images")])


EXAMPLES = {
    "image.read_folder": lambda: Example(stage=ReadFolder(str(folder() / "*.png")), tasks=[EmptyTask()]),
    "image.read_tar": lambda: Example(stage=ReadTar(str(folder() / "images.tar")), tasks=[EmptyTask()]),
    "image.probe": images,
    "image.size_filter": images,
    "image.aspect_filter": images,
    "image.quality_filter": images,
    "image.phash": images,
    "image.embed": lambda: images(Embed(str(vision_model("clip")))),
    "image.nsfw": images,
    "image.write_tar": lambda: images(WriteTar(str(folder() / "out"))),
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_image_conforms(check):
    check()
