"""A tar archive of captioned pictures, some of them copies, blurred, or with captions that should not pass."""

from __future__ import annotations

import io
import tarfile

import numpy as np
from PIL import Image, ImageFilter


def scene(seed):
    """A picture with shapes of its own: large ones, which tell pictures apart, and fine ones, which make it sharp."""
    random = np.random.default_rng(seed)
    coarse = Image.fromarray(random.integers(0, 255, (6, 8, 3), np.uint8)).resize((320, 240), Image.Resampling.BICUBIC)
    grain = random.normal(0, 18, (240, 320, 1))
    return Image.fromarray(np.clip(np.asarray(coarse) + grain, 0, 255).astype(np.uint8))


def encoded(picture, kind="JPEG", **options):
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def write_shard(path, samples):
    """Write samples: key, extension, bytes of the picture, caption."""
    with tarfile.open(path, "w") as archive:
        for key, extension, data, caption in samples:
            for name, content in ((f"{key}.{extension}", data), (f"{key}.txt", caption.encode())):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


def make_shards(folder):
    """Write two shards; return which keys should be left and the bytes of all pictures."""
    pictures = {number: scene(number) for number in range(5)}
    blurred = pictures[3].filter(ImageFilter.GaussianBlur(12))
    first = [
        ("holiday/a", "jpg", encoded(pictures[0], quality=92), "A quiet lake in the mountains at dawn"),
        ("holiday/b", "png", encoded(pictures[1], "PNG"), "Two children are playing with a small dog"),
        ("german", "jpg", encoded(pictures[2]), "Ein ruhiger See in den Bergen am frühen Morgen"),
        ("short", "jpg", encoded(pictures[4]), "the lake"),
    ]
    second = [
        ("blurred", "jpg", encoded(blurred), "A picture that is too blurred to be of any use"),
        ("copy", "jpg", encoded(pictures[0].resize((256, 192)), quality=70), "The same lake in the mountains, smaller"),
        ("holiday/c", "webp", encoded(pictures[3], "WEBP", quality=90), "An old wooden bridge over the river"),
        ("tiny", "jpg", encoded(pictures[1].resize((32, 24))), "A very small picture of the children and the dog"),
    ]
    write_shard(folder / "0.tar", first)
    write_shard(folder / "1.tar", second)
    return {"holiday/a", "holiday/b", "holiday/c"}, {key: data for key, _, data, _ in first + second}
