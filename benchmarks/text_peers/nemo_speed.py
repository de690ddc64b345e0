"""NeMo Curator's stages, timed in this process without Ray: ``python -m text_peers.nemo_speed``.

``heuristics dropping`` sends a batch through one ``ScoreFilter`` after another, ``heuristics all`` scores and judges
every document with every filter.
"""

from __future__ import annotations

from typing import Any

from loguru import logger  # type: ignore[import-not-found]
from nemo_curator.stages.text.filters import ScoreFilter  # type: ignore[import-not-found]
from nemo_curator.tasks import DocumentBatch  # type: ignore[import-not-found]

from text_peers.nemo_filters import english_filters
from text_peers.serving import serve


def _batch(texts: Any) -> Any:
    import pandas as pd

    return DocumentBatch(dataset_name="benchmark", data=pd.DataFrame({"text": texts.to_pylist()}))


def dropping(texts: Any) -> int:
    batch = _batch(texts)
    for each in english_filters().values():
        batch = ScoreFilter(each).process(batch)
    return len(batch.to_pandas())


def all_filters(texts: Any) -> int:
    frame = _batch(texts).to_pandas()
    is_kept = None
    for each in english_filters().values():
        mask = frame["text"].apply(lambda text, each=each: _keep(each, text))
        is_kept = mask if is_kept is None else is_kept & mask
    return int(is_kept.sum()) if is_kept is not None else 0


def _keep(each: Any, text: str) -> bool:
    try:
        return bool(each.keep_document(each.score_document(text)))
    except (ZeroDivisionError, ValueError):  # documents without words
        return False


if __name__ == "__main__":
    logger.remove()
    serve({"heuristics dropping": dropping, "heuristics all": all_filters})
