"""data-juicer's filters for text, timed in this process: ``python -m text_peers.data_juicer_speed``.

It has no counterpart of every metric: nine of its operators that need no model, dropping in turn. It installs missing
packages by itself at run time; here that fails instead.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["PIP_NO_INDEX"] = "1"  # before it is imported: whatever it would install is not found
os.environ["UV_OFFLINE"] = "1"

from data_juicer.ops.filter import (  # type: ignore[import-not-found]
    AlphanumericFilter,
    AverageLineLengthFilter,
    CharacterRepetitionFilter,
    MaximumLineLengthFilter,
    SpecialCharactersFilter,
    TextLengthFilter,
    WordRepetitionFilter,
    WordsNumFilter,
)
from data_juicer.utils.constant import Fields  # type: ignore[import-not-found]

from text_peers.serving import serve

_BATCH = 1_000  # its default size of a batch


def _operators() -> list[Any]:
    return [
        AlphanumericFilter(),
        AverageLineLengthFilter(),
        CharacterRepetitionFilter(),
        MaximumLineLengthFilter(),
        SpecialCharactersFilter(),
        TextLengthFilter(),
        WordsNumFilter(),
        WordRepetitionFilter(),
    ]


def _run(texts: Any, *, is_dropping: bool) -> int:
    operators = _operators()
    values = texts.to_pylist()
    kept = 0
    for start in range(0, len(values), _BATCH):
        batch = values[start : start + _BATCH]
        samples: dict[str, Any] = {"text": batch, Fields.stats: [{} for _ in batch]}
        passed = [True] * len(batch)
        for operator in operators:
            samples = operator.compute_stats_batched(samples)
            keeps = [bool(keep) for keep in operator.process_batched(samples)]
            if is_dropping:
                samples = {
                    key: [value for value, keep in zip(column, keeps, strict=True) if keep]
                    for key, column in samples.items()
                }
                passed = [True] * len(samples["text"])
            else:
                passed = [before and keep for before, keep in zip(passed, keeps, strict=True)]
        kept += sum(passed)
    return kept


if __name__ == "__main__":
    serve(
        {
            "operators dropping": lambda texts: _run(texts, is_dropping=True),
            "operators all": lambda texts: _run(texts, is_dropping=False),
        }
    )
