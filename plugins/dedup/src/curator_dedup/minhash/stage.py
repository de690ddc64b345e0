"""Add MinHash signatures to rows, for comparisons outside of the workflows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import pyarrow as pa

from curator_core.sdk import ProcessingStage, TableBatch, column_bytes
from curator_dedup.minhash.scheme import MinhashScheme
from curator_dedup.minhash.signing import sign
from curator_table import SpacedWords, check_segmenter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.sdk import Columns

__all__ = ["Minhash"]


@dataclass
class Minhash(ProcessingStage[TableBatch, TableBatch]):
    """Add a column with the MinHash signature of a text: entries of two rows agree as often as their shingles do.

    The parameters are kept with the column, so that signatures of different kinds are not compared by mistake. A row
    without any shingle, null or empty, has none. ``dedup.fuzzy`` does all of this and the comparing too.

    >>> from curator_core import TableBatch
    >>> stage = Minhash(ngrams=5, num_hashes=64)
    >>> batch = stage.process(TableBatch(data={"text": ["the same text", "the same text", ""]}))
    >>> first, second, third = batch.data["minhash"].to_pylist()
    >>> first == second, len(first), third
    (True, 64, None)

    Args:
        text_column: Column with the text.
        output_column: Column to add.
        unit: Unit of shingles: characters, or words.
        words: Where words end: at ``whitespace``, of which a segmenter puts some into ``chinese``, ``japanese`` or
            ``thai`` first.
        ngrams: How many of them make a shingle.
        num_hashes: Entries of a signature.
        bits: Size of an entry, 32 or 64.
        seed: Start of the random numbers.
        device: A torch device to compute on; the CPU, without torch, unless given.
    """

    text_column: str = "text"
    output_column: str = "minhash"
    unit: Literal["char", "word"] = field(default="char", kw_only=True)
    words: SpacedWords = field(default="whitespace", kw_only=True)
    ngrams: int = field(default=24, kw_only=True)
    num_hashes: int = field(default=260, kw_only=True)
    bits: Literal[32, 64] = field(default=32, kw_only=True)
    seed: int = field(default=42, kw_only=True)
    device: str | None = field(default=None, kw_only=True)

    name = "dedup.minhash"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _ = self.scheme  # refuse impossible parameters early

    @property
    def scheme(self) -> MinhashScheme:
        """How signatures are made."""
        return MinhashScheme(self.unit, self.ngrams, self.num_hashes, self.bits, self.seed, words=self.words)

    def preflight(self) -> Sequence[str] | None:
        """Check that the packages that splitting text needs are installed.

        Raises:
            MissingPackageError: One is not.
        """
        check_segmenter(self.name, self.words)
        return None

    def inputs(self) -> Columns:
        return [self.text_column]

    def outputs(self) -> Columns:
        return [self.output_column]

    def process(self, task: TableBatch) -> TableBatch:
        """Add the signatures of a batch."""
        scheme = self.scheme
        signatures, shingles = sign(column_bytes(task.text(self.text_column).to_arrow()), scheme, device=self.device)
        column = pa.FixedSizeListArray.from_arrays(
            pa.array(signatures.reshape(-1)), scheme.num_hashes, mask=pa.array(shingles == 0)
        )
        place = task.data.schema.get_field_index(self.output_column)
        told = pa.field(self.output_column, column.type, metadata=scheme.to_metadata())
        table = task.data if place < 0 else task.data.remove_column(place)
        return task.with_data(table.append_column(told, column))
