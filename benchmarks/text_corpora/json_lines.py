"""JSON lines of a wanted size: the short and the web-length documents, shuffled, over and over with changes."""

from __future__ import annotations

import itertools
import json
import random
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from text_corpora.builtin import builtin_documents
from text_corpora.corpus import Made, kept
from text_corpora.descriptions import short_documents
from text_corpora.pages import web_length_documents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from text_corpora.corpus import Corpus

PART_BYTES = 10_000_000
"""Size of a file: some peers cannot cut one into pieces, so that there have to be several."""


def json_lines(folder: Path, size_bytes: int, *, builtin: bool = False) -> Corpus:
    """Return a folder of JSON lines with ``id``, ``source`` and ``text``.

    A pass takes every document once, in an order of its own (seeded by the number of the pass). From the second pass on
    a text starts at another of its paragraphs, and those before it come last, so that no pass repeats the bytes of
    another. A smaller size is a prefix of a larger one. With ``builtin``, the made-up documents are taken instead.
    """

    def build(path: Path) -> Made:
        real = (short_documents, web_length_documents)
        corpora = [make(folder) for make in ((builtin_documents,) if builtin else real)]
        documents = [row for corpus in corpora for row in _rows(corpus)]
        path.mkdir(parents=True)
        count, written = _write(path, _lines(documents), size_bytes)
        return Made(count, written, {name: version for corpus in corpora for name, version in corpus.sources.items()})

    name = f"json_lines_{size_bytes // 1000}kb" if builtin else f"json_lines_{size_bytes // 10**6}mb"
    documents = "made-up" if builtin else "short and web-length"
    recipe = f"{size_bytes} bytes in files of {PART_BYTES}, {documents} documents, paragraphs rotated; 1"
    return kept(folder, name, recipe, build)


def _rows(corpus: Corpus) -> Iterator[tuple[str, str]]:
    table = pq.read_table(corpus.path, columns=["id", "text"])
    for name, text in zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True):
        yield f"{corpus.name}/{name}", text


def _lines(documents: list[tuple[str, str]]) -> Iterator[bytes]:
    numbers = itertools.count()
    for number in itertools.count():
        draw = random.Random(number)
        order = list(documents)
        draw.shuffle(order)
        for source, text in order:
            record = {"id": next(numbers), "source": source, "text": _rotated(text, draw) if number else text}
            yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _rotated(text: str, draw: random.Random) -> str:
    paragraphs = text.split("\n")
    start = draw.randrange(len(paragraphs))
    return "\n".join(paragraphs[start:] + paragraphs[:start])


def _write(folder: Path, lines: Iterator[bytes], size_bytes: int) -> tuple[int, int]:
    count = written = 0
    for part in itertools.count():
        with (folder / f"part-{part:05}.jsonl").open("wb") as file:
            while file.tell() < PART_BYTES and written + file.tell() < size_bytes:
                file.write(next(lines))
                count += 1
            written += file.tell()
        if written >= size_bytes:
            return count, written
    raise AssertionError("unreachable: parts are numbered without end")
