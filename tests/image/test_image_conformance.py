"""Every stage of curator-image passes the conformance kit."""

import atexit
import io
import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
from PIL import Image

from curator_core import EmptyTask
from curator_core.testing import Example, parametrize_with_checks
from curator_image import ImageBatch, Probe, ReadFolder, SizeFilter


def encode(width, height, file_format="PNG"):
    file = io.BytesIO()
    Image.new("RGB", (width, height)).save(file, file_format)
    return file.getvalue()


def batch():
    images = [encode(300, 200), encode(10, 20, "JPEG"), None, encode(250, 250, "WEBP")]
    columns = {"bytes": pa.array(images, pa.large_binary()), "_source": ["a", "b", "c", "d"], "_row": [0, 0, 0, 0]}
    return ImageBatch(data=pa.table(columns), task_id="1/0")


def folder():
    path = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    (path / "a.png").write_bytes(encode(30, 20))
    return Example(ReadFolder(str(path)), [EmptyTask()])


EXAMPLES = {
    "image.read_folder": folder,
    "image.probe": lambda: Example(Probe(), [batch()]),
    "image.size_filter": lambda: Example(SizeFilter(), [batch()]),
}


@parametrize_with_checks("image", examples=EXAMPLES)
def test_image_conformance(check):
    check()
