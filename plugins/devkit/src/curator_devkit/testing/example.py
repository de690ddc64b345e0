"""Input to test a stage with: the author's own, or generated tables of awkward text for the columns it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from curator_core.sdk import ROW_COLUMN, SOURCE_COLUMN, TableBatch, columns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from curator_core.sdk import ProcessingStage, Task

__all__ = ["AWKWARD_TEXTS", "Example", "ExampleSource", "default_table"]

AWKWARD_TEXTS = (
    "The quick brown fox jumps over the lazy dog. It was not amused.",
    "",
    None,
    " \t\n",
    "Größe, naïve café, Ελληνικά, русский, 日本語, العربية, हिन्दी",
    "emoji \U0001f469\u200d\U0001f4bb and a combining e\u0301",
    "one",
    "same same same same same same same same",
    "line one\r\nline two\n\nline four",
    "NUL \x00 and bell \x07",
    "https://example.org/?q=1 <b>bold</b> {brackets} #tag @name",
    "word " * 400,
)
"""Text as it occurs: empty, null, blank, in many scripts, repetitive, with control characters, long."""

UNTOUCHED_COLUMN = "untouched"
"""A column of default tables that no stage reads."""


@dataclass(frozen=True)
class Example:
    """The input that a stage is checked with; missing parts are generated where possible.

    Args:
        stage: The stage with parameters that suit the tasks.
        tasks: Input that it can process.
    """

    stage: ProcessingStage[Any, Any] | None = None
    tasks: Sequence[Task[Any]] | None = None


ExampleSource: TypeAlias = "Example | Callable[[], Example]"
"""An example, or a function that makes it when it is needed (when it writes files, for instance)."""


def default_table(stage: ProcessingStage[Any, Any], batch_type: type[TableBatch] = TableBatch) -> TableBatch:
    """Return awkward text in every column that a stage reads, with provenance and a column to leave alone."""
    import pyarrow as pa

    count = len(AWKWARD_TEXTS)
    columns: dict[str, Any] = {}
    for name in columns_of(stage.inputs()):
        columns[name] = pa.array(AWKWARD_TEXTS, pa.string())
    columns[UNTOUCHED_COLUMN] = pa.array(range(count), pa.int64())
    columns[SOURCE_COLUMN] = pa.array(["example.jsonl"] * count, pa.string()).dictionary_encode()
    columns[ROW_COLUMN] = pa.array([number * 100 for number in range(count)], pa.int64())
    return batch_type(data=pa.table(columns), task_id="example")
