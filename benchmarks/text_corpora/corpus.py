"""What a corpus is, and how one is kept: a data file with a manifest that says what it was made from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Corpus:
    """A file of documents.

    Args:
        name: Its name, also of its files.
        path: The data: Parquet with the columns ``id`` and ``text`` (others by corpus), or JSON lines.
        documents: How many there are.
        size_bytes: Bytes of their text as UTF-8; for pages, of their HTML; for JSON lines, of the file.
        recipe: How the documents were made, and which version of that, so that an old file is not taken for a new one.
        sources: Packages or indices, with their versions.
    """

    name: str
    path: Path
    documents: int
    size_bytes: int
    recipe: str
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """What a builder hands back: counts and sources of the file that it wrote."""

    documents: int
    size_bytes: int
    sources: dict[str, str]


def kept(folder: Path, file_name: str, recipe: str, build: Callable[[Path], Made]) -> Corpus:
    """Return a corpus from the cache, or build it.

    Args:
        folder: The cache.
        file_name: Name of the data file; the manifest lies next to it.
        recipe: Text that changes whenever the documents would.
        build: Writes the data to a path and returns its counts.
    """
    path = folder / file_name
    manifest = folder / f"{file_name}.manifest.json"
    if path.exists() and manifest.exists():
        known = json.loads(manifest.read_text(encoding="utf-8"))
        if known["recipe"] == recipe:
            return Corpus(**{**known, "path": path})
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{file_name}.partial"
    made = build(partial)
    partial.replace(path)
    corpus = Corpus(file_name.partition(".")[0], path, made.documents, made.size_bytes, recipe, made.sources)
    text = json.dumps({**asdict(corpus), "path": path.name}, indent=2, ensure_ascii=False)
    manifest.write_text(text + "\n", encoding="utf-8")
    return corpus
