"""HTML pages of Debian's documentation packages, and the text of those that are as long as web pages are."""

from __future__ import annotations

import re
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

# English manuals that are mostly prose, as different in origin and make-up as the archive has them.
PACKAGES = (
    "apache2-doc",
    "apt-doc",
    "aptitude-doc-en",
    "cmake-doc",
    "debian-faq",
    "debian-handbook",
    "debian-policy",
    "debian-reference-en",
    "developers-reference",
    "erlang-doc",
    "exim4-doc-html",
    "fp-docs-3.2.2",
    "git-doc",
    "gimp-help-en",
    "gnome-devel-docs",
    "grass-doc",
    "installation-guide-amd64",
    "keystone-doc",
    "libboost1.81-doc",
    "libvirt-doc",
    "linux-doc-6.1",
    "llvm-14-doc",
    "maint-guide",
    "neutron-doc",
    "nodejs-doc",
    "nova-doc",
    "octave-doc",
    "postfix-doc",
    "postgresql-doc-15",
    "povray-doc",
    "python-django-doc",
    "python-sqlalchemy-doc",
    "python3.11-doc",
    "r-doc-html",
    "shorewall-doc",
    "sphinx-doc",
    "sqlite3-doc",
    "swift-doc",
    "tomcat10-docs",
    "twisted-doc",
    "wireshark-doc",
    "xorg-docs",
    "zsh-doc",
)
MAX_PAGE_CHARS = 1_000_000
TEXT_BYTES = (2_000, 20_000)
_PER_PACKAGE = 1_000  # no manual makes up most of the corpus
_OTHER_LANGUAGE = re.compile(r"[./](?!en\b)[a-z]{2}([_-][A-Za-z]{2,4})?(\.html?(\.\w+)?$|/)|\.html\.(?!en\b)[a-z]{2}\b")
_DUPLICATES = re.compile(r"(genindex|search|modindex|_sources|_modules)")


def html_pages(folder: Path) -> Corpus:
    """Return the pages: ``id`` (package and path), ``package`` and ``html``."""

    def build(path: Path) -> Made:
        archive = Archive(folder / "debian")
        rows = {"id": [], "package": [], "html": []}
        sources: dict[str, str] = {}
        for package in PACKAGES:
            try:
                root = archive.unpack(package)
            except CorpusUnavailableError as error:  # a release may lack some; the manifest says which were there
                print(f"without {package}: {error}", file=sys.stderr)
                continue
            sources[package] = archive.version(package)
            for name, html in _pages(root):
                rows["id"].append(f"{package}/{name}")
                rows["package"].append(package)
                rows["html"].append(html)
        if not sources:
            raise CorpusUnavailableError("none of the documentation packages could be fetched")
        pq.write_table(pa.table(rows), path, row_group_size=500)
        return Made(len(rows["id"]), sum(len(html.encode()) for html in rows["html"]), sources)

    return kept(folder, "pages.parquet", f"{len(PACKAGES)} packages, {_PER_PACKAGE} pages each; 1", build)


def web_length_documents(folder: Path) -> Corpus:
    """Return the main text of the pages where it has 2 to 20 kB, every text once: ``id`` and ``text``."""

    def build(path: Path) -> Made:
        from resiliparse.extract.html2text import extract_plain_text

        pages = html_pages(folder)
        texts: dict[str, str] = {}
        for batch in pq.ParquetFile(pages.path).iter_batches(200, columns=["id", "html"]):
            for row in batch.to_pylist():
                text = extract_plain_text(row["html"], main_content=True, alt_texts=False)
                if TEXT_BYTES[0] <= len(text.encode()) <= TEXT_BYTES[1]:
                    texts.setdefault(text, row["id"])
        pq.write_table(pa.table({"id": list(texts.values()), "text": list(texts)}), path)
        return Made(len(texts), sum(len(text.encode()) for text in texts), pages.sources)

    return kept(folder, "web.parquet", f"main text by resiliparse, {TEXT_BYTES} bytes; 1", build)


def _pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and HTML of a package's English pages, spread over all of them where there are too many."""
    files = sorted(path for path in root.rglob("*.htm*") if path.is_file() and not path.is_symlink())
    names = {str(path.relative_to(root)).removeprefix("usr/share/"): path for path in files}
    names = {name: path for name, path in names.items() if _is_english(name) and not _DUPLICATES.search(name)}
    step = max(1, -(-len(names) // _PER_PACKAGE))
    for name in list(names)[::step]:
        data = names[name].read_bytes()
        if len(data) <= MAX_PAGE_CHARS and not name.endswith(".gz"):
            yield name, data.decode("utf-8", errors="replace")


def _is_english(name: str) -> bool:
    return not _OTHER_LANGUAGE.search(name)
