"""The image plugin keeps the rules."""

import atexit
import functools
import io
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
from PIL import Image

from curator_core import EmptyTask
from curator_core.testing import Example, parametrize_with_checks
from curator_image import plugin
from curator_image.batch import ImageBatch
from curator_image.read_folder import ReadFolder

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
    return path


def images() -> Example:
    columns = {
        "bytes": pa.array([encoded(size) for size in SIZES], pa.large_binary()),
        "_source": pa.array([f"{number}.png" for number in range(len(SIZES))]).dictionary_encode(),
        "_row": pa.array([0] * len(SIZES), pa.int64()),
    }
    return Example(tasks=[ImageBatch(data=columns, task_id="images")])


EXAMPLES = {
    "image.read_folder": lambda: Example(stage=ReadFolder(str(folder())), tasks=[EmptyTask()]),
    "image.probe": images,
    "image.size_filter": images,
}


@parametrize_with_checks(plugin, examples=EXAMPLES)
def test_image_conforms(check):
    check()
