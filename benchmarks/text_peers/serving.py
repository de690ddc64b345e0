"""How a program that measures talks to the one that asks: a JSON object a line, on stdin and stdout.

A program stays alive between questions, so that several can take turns without being loaded again.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def serve(cases: dict[str, Callable[..., int]]) -> None:
    """Answer questions until stdin ends.

    A question is ``{"case": name, "corpus": path, "documents": limit}``. A case is given the texts and returns
    how many documents it kept; it is called once before it is timed where the question says ``"warm": true``, and
    again and again until ``min_cpu_s`` are spent.
    Whatever a case prints goes to stderr.
    """
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            answers.write(json.dumps(_answer(cases, json.loads(line))) + "\n")
            answers.flush()


def _answer(cases: dict[str, Callable[..., int]], question: dict[str, Any]) -> dict[str, Any]:
    try:
        case = cases[question["case"]]
        texts = texts_of(question["corpus"], question["documents"])
        if question.get("warm"):
            case(texts)
        begun, calls, cpu_s = time.process_time(), 0, 0.0
        while not calls or cpu_s < question.get("min_cpu_s", 0.0):
            kept = case(texts)
            calls += 1
            cpu_s = time.process_time() - begun
        return {"cpu_s": cpu_s / calls, "kept": kept, "documents": len(texts), "bytes": _size(texts)}
    except Exception as error:  # noqa: BLE001 - a peer that fails is a result
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def texts_of(corpus: str, documents: int) -> Any:
    """Return the ``text`` column as an Arrow array: at most so many documents, spread over the whole corpus."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pq.read_table(corpus, columns=["text"])["text"]
    step = max(1, len(column) // documents) if documents else 1
    chosen = column.take(pa.array(range(0, len(column), step))).combine_chunks()
    return chosen[:documents] if documents else chosen


def _size(texts: Any) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(pc.binary_length(texts)).as_py() or 0)
