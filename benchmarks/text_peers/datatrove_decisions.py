"""Write what datatrove's filters decide about every document of a corpus.

    python -m text_peers.datatrove_decisions CORPUS.parquet OUT.parquet whitespace|spacy

A row per document, in order. For every filter ``<filter>_reason``: null when kept, else datatrove's reason, or
``error: …`` where it raises. Each filter sees the original text. ``c4_text`` is what C4 makes of a document that it
keeps, ``c4_sentences`` how many sentences it counted in the lines that it looked at to the end, ``words`` how many
words the document was split into.
"""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datatrove.data import Document  # type: ignore[import-not-found]
from datatrove.pipeline.filters import c4_filters  # type: ignore[import-not-found]
from datatrove.utils.text import split_into_words  # type: ignore[import-not-found]

from text_peers.datatrove_filters import new_filters, use_words


class SentenceCount:
    """Stands in for the function that C4 calls for every line, and remembers how many sentences there were."""

    def __init__(self) -> None:
        self.of_document = 0
        self._split = c4_filters.split_into_sentences

    def __call__(self, text: str, language: str) -> list[str]:
        found = self._split(text, language)
        self.of_document += len(found)
        return list(found)


def decide(corpus: str, words: str) -> pa.Table:
    """Return the decisions."""
    use_words(words)
    filters = new_filters()
    count = c4_filters.split_into_sentences = SentenceCount()
    table = pq.read_table(corpus, columns=["id", "text"])
    columns: dict[str, list[Any]] = {"id": table["id"].to_pylist(), "words": [], "c4_text": [], "c4_sentences": []}
    columns |= {f"{name}_reason": [] for name in filters}
    for text in table["text"].to_pylist():
        columns["words"].append(len(split_into_words(text)))
        for name, each in filters.items():
            document = Document(text=text, id="")
            count.of_document = 0
            reason = _reason(each, document)
            columns[f"{name}_reason"].append(reason)
            if name == "c4_quality":
                columns["c4_text"].append(document.text if reason is None else None)
                columns["c4_sentences"].append(count.of_document)
    return pa.table(columns)


def _reason(each: Any, document: Any) -> str | None:
    try:
        result = each.filter(document)
    except Exception as error:  # noqa: BLE001 - what it does with odd documents is part of the answer
        return f"error: {type(error).__name__}"
    is_kept, reason = result if isinstance(result, tuple) else (result, "")
    return None if is_kept else reason


if __name__ == "__main__":
    pq.write_table(decide(sys.argv[1], sys.argv[3]), sys.argv[2])
