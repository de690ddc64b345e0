"""datatrove's filters, timed in this process: ``python -m text_peers.datatrove_speed whitespace|spacy``.

``quality dropping`` sends documents through its pipeline of all four filters; ``quality all`` asks every filter about
every document.
"""

from __future__ import annotations

import sys
from typing import Any

from datatrove.data import Document  # type: ignore[import-not-found]

from text_peers.datatrove_filters import new_filters, use_words
from text_peers.serving import serve


def dropping(texts: Any) -> int:
    documents: Any = (Document(text=text, id="") for text in texts.to_pylist())
    for each in new_filters().values():
        documents = each.run(documents)
    return sum(1 for _ in documents)


def all_filters(texts: Any) -> int:
    filters = list(new_filters().values())
    kept = 0
    for text in texts.to_pylist():
        results = [_result(each, text) for each in filters]
        kept += all(result is True for result in results)
    return kept


def _result(each: Any, text: str) -> Any:
    try:
        return each.filter(Document(text=text, id=""))
    except ZeroDivisionError:  # documents without words
        return False


if __name__ == "__main__":
    use_words(sys.argv[1])
    serve({"quality dropping": dropping, "quality all": all_filters})
