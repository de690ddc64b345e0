"""Source code of eight kinds from Debian packages, for the filters that look at code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from text_corpora.corpus import Made, kept
from text_corpora.debian import Archive, CorpusUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from text_corpora.corpus import Corpus

# Package, suffix of its files, and what they are.
SOURCES = (
    ("libpython3.11-stdlib", ".py", "text/x-python"),
    ("python3-django", ".py", "text/x-python"),
    ("golang-1.19-src", ".go", "text/x-go"),
    ("libruby3.1", ".rb", "text/x-ruby"),
    ("libboost1.81-dev", ".hpp", "text/x-c++"),
    ("linux-libc-dev", ".h", "text/x-c"),
    ("libjs-jquery-ui", ".js", "application/javascript"),
    ("dracut-core", ".sh", "text/x-shellscript"),
    ("docbook-xsl", ".xsl", "text/xml"),
    ("zsh-doc", ".html", "text/html"),
)
_PER_PACKAGE = 400
_SIZES = (1, 100_000)


def source_files(folder: Path) -> Corpus:
    """Return source files: ``id`` (package and path), ``text`` and ``mime``."""

    def build(path: Path) -> Made:
        archive = Archive(folder / "debian")
        rows = {"id": [], "text": [], "mime": []}
        versions: dict[str, str] = {}
        for package, suffix, mime in SOURCES:
            try:
                root = archive.unpack(package)
            except CorpusUnavailableError as error:  # a release may lack some; the manifest says which were there
                print(f"without {package}: {error}", file=sys.stderr)
                continue
            versions[package] = archive.version(package)
            for name, text in _files(root, suffix):
                rows["id"].append(f"{package}/{name}")
                rows["text"].append(text)
                rows["mime"].append(mime)
        pq.write_table(pa.table(rows), path)
        return Made(len(rows["id"]), sum(len(text.encode()) for text in rows["text"]), versions)

    return kept(folder, "code.parquet", f"{len(SOURCES)} packages, {_PER_PACKAGE} files each; 1", build)


def _files(root: Path, suffix: str) -> Iterator[tuple[str, str]]:
    files = sorted(path for path in root.rglob(f"*{suffix}") if path.is_file() and not path.is_symlink())
    files = [path for path in files if _SIZES[0] <= path.stat().st_size <= _SIZES[1]]
    for path in files[:: max(1, -(-len(files) // _PER_PACKAGE))]:
        yield str(path.relative_to(root)), path.read_bytes().decode("utf-8", errors="replace")
