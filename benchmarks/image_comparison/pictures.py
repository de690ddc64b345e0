"""Photographs from Debian's wallpaper package and stamps with captions, fetched by name at run time."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from PIL import Image
from text_corpora.debian import Archive

if TYPE_CHECKING:
    from pathlib import Path

STAMPS, WALLPAPERS = "tuxpaint-stamps-default", "mate-backgrounds"
SAMPLES_PER_SHARD = 150


def photographs(folder: Path, count: int, size: tuple[int, int] = (1024, 768)) -> list[bytes]:
    """Return JPEG files of one size, cut from real photographs in different places.

    Raises:
        CorpusUnavailableError: The package cannot be fetched.
    """
    files = sorted(Archive(folder / "debian").unpack(WALLPAPERS).rglob("nature/*.jpg"))
    encoded: list[bytes] = []
    for number in range(count):
        with Image.open(files[number % len(files)]) as image:
            photo = image.convert("RGB")
        step = number // len(files) * 40
        left, top = min(step, photo.width - size[0]), min(step, photo.height - size[1])
        file = io.BytesIO()
        photo.crop((left, top, left + size[0], top + size[1])).save(file, "JPEG", quality=88)
        encoded.append(file.getvalue())
    return encoded


def write_shards(folder: Path, target: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """Write tar shards of all stamps and wallpapers, with captions, and with copies planted among them.

    A copy is a picture that was encoded again (JPEG, quality 60) or made smaller by a third.

    Returns:
        The images by key, and the key of the original by that of its copy.

    Raises:
        CorpusUnavailableError: A package cannot be fetched.
    """
    archive = Archive(folder / "debian")
    samples: list[tuple[str, str, bytes, str | None]] = []
    copies: dict[str, str] = {}
    for package in (STAMPS, WALLPAPERS):
        root = archive.unpack(package)
        for number, path in enumerate(sorted(each for each in root.rglob("*") if each.suffix in (".png", ".jpg"))):
            if path.is_symlink() or "/doc/" in str(path):
                continue
            key = f"{package}/{path.relative_to(root).with_suffix('')}".replace(".", "_")
            samples.append((key, path.suffix[1:], path.read_bytes(), _caption(path)))
            if number % 8 == 0:
                copy = f"copies/{package}-{number:04}"
                copies[copy] = key
                samples.append((copy, *_copy(path, smaller=number % 16 == 0), None))
    samples.sort(key=lambda sample: sample[0])
    target.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(samples), SAMPLES_PER_SHARD):
        with tarfile.open(target / f"{start // SAMPLES_PER_SHARD:04}.tar", "w") as tar:
            for key, extension, content, caption in samples[start : start + SAMPLES_PER_SHARD]:
                _add(tar, f"{key}.{extension}", content)
                if caption is not None:
                    _add(tar, f"{key}.txt", caption.encode())
    return {key: content for key, _, content, _ in samples}, copies


def _caption(path: Path) -> str | None:
    text = path.with_suffix(".txt")
    return text.read_text(encoding="utf-8").splitlines()[0] if text.exists() else None


def _copy(path: Path, *, smaller: bool) -> tuple[str, bytes]:
    """Return extension and content of a copy as it appears on another web site: over white, encoded again."""
    with Image.open(path) as image:
        picture = Image.new("RGBA", image.size, "white")
        picture.alpha_composite(image.convert("RGBA"))
    flat = picture.convert("RGB")
    if smaller:
        flat = flat.resize((max(1, flat.width * 2 // 3), max(1, flat.height * 2 // 3)), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    flat.save(file, "JPEG", quality=60)
    return "jpg", file.getvalue()


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))
