"""A tiny corpus that needs no network: made-up documents with every trait that a quality filter looks for."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from text_corpora.corpus import Made, kept

if TYPE_CHECKING:
    from pathlib import Path

    from text_corpora.corpus import Corpus

_COMMON = ("the", "be", "to", "of", "and", "that", "have", "with")
_COMMON_FRACTION = 0.3
_DOCUMENTS = 400


def builtin_documents(folder: Path) -> Corpus:
    """Return 400 documents, ``id`` and ``text``: prose, lists, repeated lines, symbols, links, and nothing at all."""

    def build(path: Path) -> Made:
        draw = random.Random(0)
        texts = [_text(number, draw) for number in range(_DOCUMENTS)]
        pq.write_table(pa.table({"id": [str(number) for number in range(_DOCUMENTS)], "text": texts}), path)
        return Made(len(texts), sum(len(text.encode()) for text in texts), {})

    return kept(folder, "builtin.parquet", f"{_DOCUMENTS} made-up documents; 1", build)


def _text(number: int, draw: random.Random) -> str:
    sentences = [_sentence(draw) for _ in range(draw.randint(3, 60))]
    prose = "\n".join(" ".join(sentences[start : start + 4]) for start in range(0, len(sentences), 4))
    kinds = (
        prose,
        prose,
        prose,
        "\n".join(f"- {sentence}" for sentence in sentences),
        "\n".join([sentences[0]] * len(sentences)),
        prose + " #" * 50,
        "\n".join(f"https://example.org/{draw.random()}" for _ in range(20)),
        prose.replace(".", " ..."),
        "",
        f"{prose}\n\n{prose}\nThis site uses cookies; see the privacy policy. Lorem ipsum {{}} 日本語。",
    )
    return kinds[number % len(kinds)]


def _sentence(draw: random.Random) -> str:
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(1, 10))) for _ in range(draw.randint(4, 14))]
    words = [draw.choice(_COMMON) if draw.random() < _COMMON_FRACTION else word for word in words]
    return " ".join(words).capitalize() + "."
