"""How often benchmark n-grams occur in a corpus: written in one pass over it, read by the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import polars as pl
import pyarrow as pa

from curator_core.sdk import FileWriter
from curator_table import write_parquet
from curator_text.privacy.reference_index import build_index, check_ngrams, compile_grams
from curator_text.privacy.reference_texts import list_references

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import Columns, NodeInfo, TableBatch, WorkerInfo
    from curator_text.privacy.reference_index import GramIndex

__all__ = ["CountContamination"]


@dataclass
class CountContamination(FileWriter):
    """Count in how many documents each benchmark n-gram occurs, for the ``counts`` of ``text.decontaminate``.

    Some n-grams of a benchmark are common phrases, and dropping documents for them loses good text: GPT-3 (Brown et al.
    2020) and NeMo Curator's former ``TaskDecontamination`` ignore those in more than ten documents. That takes a pass
    over the whole corpus before any document can be judged: a pipeline that ends with this stage. The one that follows
    gives its folder to ``text.decontaminate``, with the same ``references``, ``ngrams``, ``min_words`` and ``fields``.

    >>> CountContamination("counts", references="gsm8k.jsonl").file_name("3f2a/0")
    'part-3f2a-0.parquet'

    Args:
        path: Folder for the counts; created where missing.
        references: The benchmark sets, as for ``text.decontaminate``.
        reference_columns: Columns of the references to compare with; all that hold text, where None.
        ngrams: Words of an n-gram.
        min_words: Entries of fewer words are not looked for.
        text_column: Column with the text.
    """

    references: str | list[str] | dict[str, str | list[str]] = field(kw_only=True)
    reference_columns: list[str] | None = field(default=None, kw_only=True)
    ngrams: int = field(default=13, kw_only=True)
    min_words: int = field(default=8, kw_only=True)
    text_column: str = field(default="text", kw_only=True)

    name = "text.count_contamination"
    extension = ".parquet"
    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        check_ngrams(self.name, ngrams=self.ngrams, min_words=self.min_words)

    def preflight(self) -> Sequence[str] | None:
        """Find the benchmark files, so that a missing one ends the run before it starts."""
        list_references(self.references)
        return super().preflight()

    def setup_on_node(self, node: NodeInfo) -> None:
        super().setup_on_node(node)
        compile_grams(self, node)

    def setup(self, worker: WorkerInfo) -> None:
        """Read the benchmark sets."""
        super().setup(worker)
        _ = self._index

    def teardown(self) -> None:
        """Forget the benchmark sets."""
        self.__dict__.pop("_index", None)
        super().teardown()

    def inputs(self) -> Columns:
        return [self.text_column]

    def parts(self, task: TableBatch) -> Iterator[pa.Table]:
        """Yield the counts of a batch, unless there are none."""
        index = self._index
        found = index.matches(task.text(self.text_column))
        pairs = pl.DataFrame({"row": found.row, "slot": found.slot}).unique()  # twice in a document counts once
        counts = pairs.group_by("slot").len("documents").sort("slot")
        grams = index.keys[counts["slot"].to_numpy()]
        if counts.height:
            documents = counts["documents"].cast(pl.Int64).to_arrow()
            yield pa.table({"gram": pa.array(grams, pa.uint64()), "documents": documents})

    def write_file(self, table: pa.Table, path: str) -> int:
        return write_parquet(table, path)

    @cached_property
    def _index(self) -> GramIndex:
        return build_index(
            self.references,
            ngrams=self.ngrams,
            min_words=self.min_words,
            columns=self.reference_columns,
            stage=self.name,
        )
