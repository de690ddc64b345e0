"""Pictures for tests, made on the spot: scenes with edges and shades, in any format."""

import functools
import io

import numpy as np
import pillow_heif
from PIL import Image, ImageFilter


@functools.cache
def scene(seed=0, width=320, height=240):
    """A picture with soft shades and sharp shapes, different for every seed."""
    rng = np.random.default_rng(seed)
    shades = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).resize((width, height), Image.BICUBIC)
    pixels = np.asarray(shades).copy()
    for _ in range(60):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        pixels[y : y + int(rng.integers(4, 60)), x : x + int(rng.integers(4, 60))] = rng.integers(0, 256, 3)
    return Image.fromarray(pixels)


def encoded(image, file_format="JPEG", **options):
    file = io.BytesIO()
    if file_format == "HEIF":  # which Pillow does not know, and is not told: nor do those who read it
        exif = options.pop("exif", None)
        pillow_heif.from_pillow(image).save(file, exif=exif and exif.tobytes(), **options)
    else:
        image.save(file, file_format, **options)
    return file.getvalue()


def blurred(image, radius=6):
    return image.filter(ImageFilter.GaussianBlur(radius))
