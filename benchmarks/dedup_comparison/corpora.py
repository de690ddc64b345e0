"""Corpora with known near-duplicates, made of real text."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

DUPLICATE_FRACTION = 0.15
SIZES = {"short": 500, "web": 4000}
"""Bytes of a document, about."""


def sentences(folder: Path, *, is_builtin: bool = False) -> list[str]:
    """Return sentences: of package descriptions where they can be had, else of made-up documents.

    Args:
        folder: Where corpora are kept.
        is_builtin: Take the made-up documents, which need no network.
    """
    from text_corpora.builtin import builtin_documents
    from text_corpora.debian import CorpusUnavailableError
    from text_corpora.descriptions import short_documents

    try:
        corpus = builtin_documents(folder) if is_builtin else short_documents(folder)
    except CorpusUnavailableError:
        corpus = builtin_documents(folder)
    texts = pq.read_table(corpus.path, columns=["text"])["text"].to_pylist()
    found = [" ".join(part.split()) for text in texts for part in text.replace("\n", " ").split(". ")]
    return sorted({each for each in found if len(each) > 40})


def write_corpus(path: Path, pool: list[str], *, size_bytes: int, document_bytes: int, seed: int = 0) -> int:
    """Write documents of sentences drawn from a pool, some of them near copies of others; return how many.

    Args:
        path: Parquet file with ``id`` and ``text``.
        pool: The sentences.
        size_bytes: How much text.
        document_bytes: Bytes of a document, about.
        seed: Start of the random numbers.
    """
    draw = random.Random(seed)
    texts: list[str] = []
    total = 0
    while total < size_bytes:
        if texts and draw.random() < DUPLICATE_FRACTION:
            words = draw.choice(texts).split()
            for _ in range(draw.choice((0, 1, 2, 5, len(words) // 4))):
                words[draw.randrange(len(words))] = draw.choice(pool).split()[0]
            text = " ".join(words)
        else:
            parts: list[str] = []
            length = 0
            while length < document_bytes:
                parts.append(draw.choice(pool))
                length += len(parts[-1]) + 2
            text = ". ".join(parts)
        texts.append(text)
        total += len(text.encode())
    table = pa.table({"id": [str(number) for number in range(len(texts))], "text": texts})
    pq.write_table(table, path)
    return len(texts)
