"""Package descriptions: tens of thousands of short English documents, and labelled ones in thirty-odd languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from text_corpora.corpus import Made, kept
from text_corpora.debian import Archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from text_corpora.corpus import Corpus

# Debian's names of its translations, and the language that a document of it is labelled with (ISO 639-1).
_PLAIN = (
    "ca",
    "cs",
    "da",
    "de",
    "el",
    "en",
    "eo",
    "es",
    "eu",
    "fi",
    "fr",
    "gl",
    "hr",
    "hu",
    "id",
    "it",
    "ja",
    "km",
    "ko",
    "ml",
    "nl",
    "pl",
    "pt",
    "ro",
    "ru",
    "sk",
    "sr",
    "sv",
    "tr",
    "uk",
    "vi",
)
LANGUAGES = {
    **{code: code for code in _PLAIN},
    "nb": "no",
    "pt_BR": "pt",
    "zh_CN": "zh",
    "zh_TW": "zh",
}
PER_LANGUAGE = 1_500
_MIN_CHARS = 100  # characters; shorter ones carry little but names
_MAX_ENGLISH_FRACTION = 0.2  # of a translation's characters in paragraphs that stand in the English text as well


def short_documents(folder: Path) -> Corpus:
    """Return the English package descriptions: ``id`` (the package) and ``text``."""

    def build(path: Path) -> Made:
        archive = Archive(folder / "debian")
        index = archive.translations(["en"])["en"]
        rows = list(_descriptions(index, "en"))
        pq.write_table(pa.table({"id": [row[0] for row in rows], "text": [row[1] for row in rows]}), path)
        return Made(len(rows), _size(rows), {"Translation-en": archive.release()})

    return kept(folder, "short.parquet", "package descriptions, paragraphs on one line; 1", build)


def multilingual_documents(folder: Path) -> Corpus:
    """Return package descriptions in many languages: ``id``, ``text`` and ``language``, at most 1,500 of each.

    Translations are made paragraph by paragraph. Those that still hold English paragraphs are left out, and so are
    short ones.
    """

    def build(path: Path) -> Made:
        archive = Archive(folder / "debian")
        indices = archive.translations(list(LANGUAGES))
        english = {paragraph for _, text in _descriptions(indices["en"], "en") for paragraph in text.split("\n")}
        rows: list[tuple[str, str, str]] = []
        for name, index in indices.items():
            texts = [(key, text) for key, text in _descriptions(index, name) if _is_translated(text, name, english)]
            step = max(1, len(texts) // PER_LANGUAGE)
            rows += [(f"{name}/{key}", text, LANGUAGES[name]) for key, text in texts[::step][:PER_LANGUAGE]]
        columns = dict(zip(("id", "text", "language"), map(list, zip(*rows, strict=True)), strict=True))
        pq.write_table(pa.table(columns), path)
        return Made(
            len(rows), _size(rows), dict.fromkeys((f"Translation-{name}" for name in indices), archive.release())
        )

    limits = f"{_MIN_CHARS} characters, {_MAX_ENGLISH_FRACTION}"
    recipe = f"translated package descriptions, {PER_LANGUAGE} a language, {limits}; 2"
    return kept(folder, "multilingual.parquet", recipe, build)


def _is_translated(text: str, name: str, english: set[str]) -> bool:
    left = sum(len(paragraph) for paragraph in text.split("\n") if paragraph in english)
    return len(text) >= _MIN_CHARS and (name == "en" or left <= _MAX_ENGLISH_FRACTION * len(text))


def _descriptions(index: Path, language: str) -> Iterator[tuple[str, str]]:
    """Yield package and text of an index: every package once, its summary as the first paragraph."""
    seen: set[str] = set()
    for block in index.read_text(encoding="utf-8").split("\n\n"):
        lines = block.strip("\n").split("\n")
        package = lines[0].removeprefix("Package: ")
        start = next((number for number, line in enumerate(lines) if line.startswith(f"Description-{language}:")), None)
        if start is None or package in seen:
            continue
        seen.add(package)
        summary = lines[start].partition(":")[2].strip()
        yield package, "\n".join([summary, *_paragraphs(lines[start + 1 :])])


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """Unfold a description as Debian's policy says: lines of one blank are wrapped text, of more stand as they are."""
    wrapped: list[str] = []
    for line in lines:
        is_verbatim = line.startswith("  ")
        if wrapped and (is_verbatim or line.strip() == "."):
            yield " ".join(wrapped)
            wrapped = []
        if is_verbatim:
            yield line[1:]
        elif line.strip() == ".":
            yield ""
        else:
            wrapped.append(line.strip())
    if wrapped:
        yield " ".join(wrapped)


def _size(rows: list[tuple[str, ...]]) -> int:
    return sum(len(row[1].encode()) for row in rows)
