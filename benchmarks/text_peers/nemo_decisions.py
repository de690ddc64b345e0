"""Write what NeMo Curator's filters score and decide about every document of a corpus.

    python -m text_peers.nemo_decisions CORPUS.parquet OUT.parquet english|code

A row per document, in order. For every filter ``<filter>_score`` (null where it raises) and ``<filter>_keep`` (null
likewise). The code filters need a column ``mime`` beside ``text``. The most frequent n-gram of a document is, where
several are equally frequent, any of them: it depends on Python's hash seed. ``<filter>_low`` and ``<filter>_high`` are
the least and greatest score over all of those.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from text_peers.nemo_filters import TOP_NGRAMS, code_filters, english_filters

if TYPE_CHECKING:
    from collections.abc import Callable


def decide_english(texts: list[str]) -> dict[str, list[Any]]:
    """Return the columns of the filters for prose."""
    columns: dict[str, list[Any]] = {}
    for name, each in english_filters().items():
        _add(columns, name, [_judged(each, text) for text in texts])
    for n in TOP_NGRAMS:
        bounds = [_bounds(text, n) for text in texts]
        columns[f"repeating_top_ngrams_{n}_low"] = [low for low, _ in bounds]
        columns[f"repeating_top_ngrams_{n}_high"] = [high for _, high in bounds]
    return columns


def decide_code(texts: list[str], mimes: list[str]) -> dict[str, list[Any]]:
    """Return the columns of the filters for code; null where a filter is not for the document's kind."""
    filters = {mime: code_filters(mime) for mime in set(mimes)}
    columns: dict[str, list[Any]] = {}
    for name in code_filters("text/x-python"):
        judged = [
            _judged(filters[mime][name], text) if name in filters[mime] else (None, None)
            for text, mime in zip(texts, mimes, strict=True)
        ]
        _add(columns, name, judged)
    return columns


def _add(columns: dict[str, list[Any]], name: str, judged: list[tuple[Any, Any]]) -> None:
    columns[f"{name}_score"] = [score for score, _ in judged]
    columns[f"{name}_keep"] = [keep for _, keep in judged]


def _judged(each: Any, text: str) -> tuple[float | None, bool | None]:
    try:
        score = each.score_document(text)
        keep = each.keep_document(score)
    except Exception:  # noqa: BLE001 - empty documents and the like; a null says so
        return None, None
    return None if score is None else float(score), bool(keep)


def _bounds(text: str, n: int) -> tuple[float | None, float | None]:
    words = text.strip().split()
    if len(words) < n or not text:
        return None, None
    counts = Counter(zip(*[words[start:] for start in range(n)], strict=False))
    most = max(counts.values())
    fractions = [_fraction(text, " ".join(ngram)) for ngram, count in counts.items() if count == most]
    return min(fractions), max(fractions)


def _fraction(text: str, ngram: str) -> float:
    return (len(text) - len(text.replace(ngram, ""))) / len(text)


PROGRAMS: dict[str, Callable[..., dict[str, list[Any]]]] = {"english": decide_english, "code": decide_code}


def main(corpus: str, out: str, kind: str) -> None:
    warnings.simplefilter("ignore")
    table = pq.read_table(corpus)
    arguments = [table["text"].to_pylist()] + ([table["mime"].to_pylist()] if kind == "code" else [])
    pq.write_table(pa.table({"id": table["id"], **PROGRAMS[kind](*arguments)}), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
