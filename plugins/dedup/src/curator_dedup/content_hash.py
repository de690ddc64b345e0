"""Give every row a hash of its content, so that equal rows can be found without comparing them."""

from __future__ import annotations

import itertools
from binascii import hexlify
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_128_digest

from curator_core.sdk import ProcessingStage, StageError, TableBatch, UnknownNameError

if TYPE_CHECKING:
    import polars as pl

    from curator_core.sdk import Columns

__all__ = ["ContentHash", "hash_rows", "normalized"]

HEX_CHARACTERS = 32
"""Length of a 128-bit hash in hexadecimal digits."""

WHITESPACE = "[\\s\x1c-\x1f]+"
"""Runs of whitespace as in ``str.isspace``: Unicode's property and four separators that it leaves out."""


@dataclass
class ContentHash(ProcessingStage[TableBatch, TableBatch]):
    """Add a column with the 128-bit XXH3 hash of a text or binary column, as 32 hexadecimal digits.

    Among a trillion different rows, two share a hash with a chance below one in 10^14, unless somebody made them to:
    the hash is fast, not cryptographic. Text is hashed as UTF-8, so it matches a binary column with the same bytes.
    Null stays null.

    >>> from curator_core import TableBatch
    >>> batch = ContentHash(normalize=True).process(TableBatch(data={"text": ["A  b", "a b", "c"]}))
    >>> first, second, third = batch.data["content_hash"].to_pylist()
    >>> first == second, first == third, len(first)
    (True, False, 32)

    Args:
        column: Column to hash: strings or bytes.
        output_column: Column to add.
        normalize: Hash text in lower case, with runs of whitespace as one space and none at the ends.
    """

    column: str = "text"
    output_column: str = "content_hash"
    normalize: bool = False

    name = "dedup.content_hash"
    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def inputs(self) -> Columns:
        return [self.column]

    def outputs(self) -> Columns:
        return [self.output_column]

    def process(self, task: TableBatch) -> TableBatch:
        return task.with_column(self.output_column, hash_rows(self._content(task)))

    def _content(self, task: TableBatch) -> pa.Array:
        if self.column not in task.columns:
            raise UnknownNameError("column", self.column, task.columns, fix=f"the batch has: {', '.join(task.columns)}")
        kind = task.data.schema.field(self.column).type
        if _is_binary(kind):
            if self.normalize:
                raise StageError(
                    f"{self.name}: column {self.column!r} holds {kind}; only text can be normalised",
                    fix="set normalize: false, or name a text column",
                )
            return task.data.column(self.column).cast(pa.large_binary()).combine_chunks()
        text = task.text(self.column)
        return (normalized(text) if self.normalize else text).to_arrow()


def normalized(texts: pl.Series) -> pl.Series:
    r"""Return texts in lower case, with every run of whitespace as one space and none at the ends.

    >>> import polars as pl
    >>> normalized(pl.Series([" One\n TWO "])).to_list()
    ['one two']
    """
    return texts.str.to_lowercase().str.replace_all(WHITESPACE, " ").str.strip_chars(" ")


def hash_rows(column: pa.Array) -> pa.Array:
    """Return the hash of each value of a large string or large binary array as a string array; null for null.

    >>> hash_rows(pa.array(["", None], pa.large_string())).to_pylist()
    ['99aa06d3014798d86001c324468d497f', None]
    """
    rows = len(column)
    _, offset_buffer, data_buffer = column.buffers()
    if rows == 0 or offset_buffer is None:
        return pa.array([], pa.string())
    offsets = memoryview(offset_buffer).cast("q")[column.offset : column.offset + rows + 1].tolist()
    data = memoryview(data_buffer or b"")
    digests = b"".join([xxh3_128_digest(data[start:end]) for start, end in itertools.pairwise(offsets)])
    ends = pa.array(range(0, (rows + 1) * HEX_CHARACTERS, HEX_CHARACTERS), pa.int32())
    hashes = pa.StringArray.from_buffers(rows, ends.buffers()[1], pa.py_buffer(hexlify(digests)))
    return pc.if_else(pc.is_valid(column), hashes, None)


def _is_binary(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_binary_view(kind)
    )
