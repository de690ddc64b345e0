"""The base of stages that change text, and ways to change a column: only rows, and only lines, that need it."""

from __future__ import annotations

import sys
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import polars as pl
import pyarrow as pa

from curator_core.sdk import ProcessingStage, TableBatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from curator_core.sdk import Columns

__all__ = [
    "WHITESPACE",
    "TextModifier",
    "keep_pieces",
    "replace_all",
    "rewrite_lines",
    "rewrite_matching",
    "rewrite_rows",
    "with_text",
]

WHITESPACE = "".join(chr(point) for point in range(min(sys.maxunicode, 0x3001)) if chr(point).isspace())
"""Characters that ``str.strip`` removes. Regular expressions and polars leave the separators U+001C to U+001F out."""


@dataclass
class TextModifier(ProcessingStage[TableBatch, TableBatch]):
    """Change the text of every row by itself; nulls stay null.

    >>> from curator_text import DocumentBatch
    >>> @dataclass
    ... class Shout(TextModifier):
    ...     def rewrite(self, texts):
    ...         return texts.str.to_uppercase()
    >>> Shout().process(DocumentBatch(data={"text": ["hello", None]})).data["text"].to_pylist()
    ['HELLO', None]

    Args:
        text_column: Column with the text.
    """

    text_column: str = field(default="text", kw_only=True)

    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    @abstractmethod
    def rewrite(self, texts: pl.Series) -> pl.Series:
        """Return the new texts: one per row, null where the old one is null."""

    def inputs(self) -> Columns:
        return [self.text_column]

    def process(self, task: TableBatch) -> TableBatch:
        """Replace the text column; the others are shared."""
        return with_text(task, self.text_column, self.rewrite(task.text(self.text_column)))


def with_text(batch: TableBatch, name: str, texts: pl.Series) -> TableBatch:
    """Return the batch with a text column replaced, in the column's own type.

    polars knows only 64-bit offsets, so columns with 32-bit ones are cast back.
    """
    wanted = batch.data.schema.field(name).type
    column = texts.to_arrow()
    return batch.with_column(name, column.cast(wanted) if pa.types.is_string(wanted) else column)


def rewrite_matching(texts: pl.Series, pattern: str, rewrite: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Apply ``rewrite`` to the rows that match ``pattern`` only: a search costs a fraction of a replacement.

    >>> rewrite_matching(pl.Series(["a  b", "a b", None]), "  ", lambda rows: rows.str.replace_all(" +", " ")).to_list()
    ['a b', 'a b', None]
    """
    return rewrite_rows(texts, texts.str.contains(pattern), rewrite)


def replace_all(texts: pl.Series, pattern: str, replacement: str) -> pl.Series:
    r"""Replace all matches of a pattern, looking for rows with some first.

    >>> replace_all(pl.Series(["a  b", "a b", None]), " +", "_").to_list()
    ['a_b', 'a_b', None]
    """
    return rewrite_matching(texts, pattern, lambda rows: rows.str.replace_all(pattern, replacement))


def rewrite_rows(texts: pl.Series, affected: pl.Series, rewrite: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Apply ``rewrite`` to the rows that are marked in ``affected``; null counts as not marked."""
    rows = affected.fill_null(value=False).arg_true()
    if rows.is_empty():
        return texts
    changed = rewrite(texts.gather(rows))
    # Strings cannot be scattered into a column, but gathering moves only their 16-byte views.
    source = pl.int_range(len(texts), eager=True, dtype=pl.UInt32)
    source = source.scatter(rows, pl.int_range(len(texts), len(texts) + len(rows), eager=True, dtype=pl.UInt32))
    return pl.concat([texts, changed]).gather(source)


def rewrite_lines(texts: pl.Series, pattern: str, rewrite: Callable[[pl.DataFrame, pl.Series], pl.Series]) -> pl.Series:
    r"""Apply ``rewrite`` to the lines that match ``pattern`` only: a long document may have one bad line.

    >>> shout = lambda lines, affected: lines["line"].filter(affected).str.to_uppercase()
    >>> rewrite_lines(pl.Series(["a\nbad\n", "c"]), "bad", shout).to_list()
    ['a\nBAD\n', 'c']

    Args:
        texts: A column without nulls.
        pattern: Pattern to find in lines.
        rewrite: Gets a frame with ``row`` and ``line`` (with its newline) of all lines and a mask of those that match;
            returns the new text of those.
    """
    rows = pl.int_range(len(texts), eager=True, dtype=pl.UInt32).alias("row")
    lines = pl.DataFrame([rows, texts.str.split("\n", inclusive=True).alias("line")]).explode("line")
    affected = lines["line"].str.contains(pattern).fill_null(value=False)
    changed = rewrite_rows(lines["line"], affected, lambda _: rewrite(lines, affected))
    joined = lines.select("row", changed.alias("line")).group_by("row", maintain_order=True)
    return joined.agg(pl.col("line").str.join(""))["line"]


def keep_pieces(texts: pl.Series, separator: str, choose: Callable[[pl.DataFrame], pl.Series]) -> pl.Series:
    r"""Cut texts at a separator, keep some of the pieces and join them again; a text without pieces is empty.

    >>> keep_pieces(pl.Series(["a\nb\nc", "b"]), "\n", lambda pieces: pieces["piece"] != "b").to_list()
    ['a\nc', '']

    Args:
        texts: A column without nulls.
        separator: Text between pieces (lines, paragraphs).
        choose: Marks the pieces to keep, given a frame with ``row`` and ``piece``, in order.
    """
    rows = pl.int_range(len(texts), eager=True, dtype=pl.UInt32).alias("row")
    pieces = pl.DataFrame([rows, texts.str.split(separator).alias("piece")]).explode("piece")
    kept = pieces.filter(choose(pieces).fill_null(value=False))
    joined = kept.group_by("row", maintain_order=True).agg(pl.col("piece").str.join(separator))
    return rows.to_frame().join(joined, on="row", how="left", maintain_order="left")["piece"].fill_null("")
