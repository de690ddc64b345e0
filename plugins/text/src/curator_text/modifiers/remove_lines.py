"""Remove lines from documents: given ones, those that match a pattern, those for which a condition holds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import polars as pl

from curator_core.sdk import ConfigError
from curator_table import parse_condition
from curator_text.modifiers.text_column import WHITESPACE, keep_pieces, rewrite_rows
from curator_text.modifiers.text_modifier import TextModifier
from curator_text.patterns import check_pattern

__all__ = ["RemoveLines"]


@dataclass
class RemoveLines(TextModifier):
    r"""Remove the lines that are listed, match a pattern or meet a condition; any one of them is enough.

    With ``lines`` alone this is NeMo Curator's ``LineRemover``. Lines end with ``\n``; what is left is joined again,
    and a document without lines is empty.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["Menu\nA story begins.\n* * *\nIt ends.\nok"]})
    >>> stage = RemoveLines(lines=["Menu"], patterns=[r"^\W+$"], where="length(line) < 3")
    >>> stage.process(batch).data["text"].to_pylist()
    ['A story begins.\nIt ends.']

    Args:
        lines: Whole lines to remove.
        patterns: Regular expressions (Rust syntax); a line in which one is found is removed.
        where: SQL condition, as in ``table.where``, over the columns ``line`` and ``number`` (of the line in its
            document, from 0), e.g. ``length(line) < 5``.
        strip: Compare lines without the whitespace at their ends.
        ignore_case: Take upper and lower case as equal, in lines and patterns.
        text_field: Column with the text.
    """

    lines: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    where: str | None = None
    strip: bool = False
    ignore_case: bool = False

    name = "text.remove_lines"

    def __post_init__(self) -> None:
        if not (self.lines or self.patterns or self.where):
            raise ConfigError(
                f"{self.name}: nothing to remove", fix='give lines, patterns or where, e.g. lines: ["Menu"]'
            )
        if any("\n" in line for line in self.lines):
            raise ConfigError(f"{self.name}: a line cannot hold a newline", fix="give each line by itself")
        for pattern in self.patterns:
            check_pattern(self.name, pattern)
        if self.where is not None:
            unknown = set(parse_condition(self.where).meta.root_names()) - {"line", "number"}
            if unknown:
                raise ConfigError(f"{self.name}: the condition knows line and number, not {', '.join(sorted(unknown))}")

    def rewrite(self, texts: pl.Series) -> pl.Series:
        return rewrite_rows(texts, self._suspects(texts), lambda rows: keep_pieces(rows, "\n", self._kept))

    def _suspects(self, texts: pl.Series) -> pl.Series:
        """Mark the documents that can hold such a line, so that only those are cut into lines."""
        if self.where is not None or "" in self.lines or any(re.search(r"\\[AzB]", each) for each in self.patterns):
            return texts.is_not_null()
        found = pl.repeat(value=False, n=len(texts), eager=True)
        if self.lines:
            # Lower case would find all of them only in ASCII, where letters keep their number.
            is_exact = not self.ignore_case or all(line.isascii() for line in self.lines)
            if not is_exact:
                return texts.is_not_null()
            wanted = [line.strip() for line in self.lines] if self.strip else self.lines
            found |= texts.str.contains_any(wanted, ascii_case_insensitive=self.ignore_case)
        for pattern in self._patterns():
            found |= texts.str.contains(f"(?m){pattern}")
        return found

    def _kept(self, pieces: pl.DataFrame) -> pl.Series:
        line = pieces["piece"]
        removed = pl.repeat(value=False, n=len(line), eager=True)
        if self.lines:
            removed |= self._comparable(line).is_in(self._comparable(pl.Series(self.lines, dtype=pl.String)).implode())
        for pattern in self._patterns():
            removed |= line.str.contains(pattern)
        if self.where is not None:
            frame = pieces.select(
                pl.col("piece").alias("line"), pl.int_range(pl.len(), dtype=pl.Int64).over("row").alias("number")
            )
            met = frame.select(parse_condition(self.where).alias("met"))["met"]
            removed |= met.cast(pl.Boolean).fill_null(value=False)
        return ~removed

    def _comparable(self, lines: pl.Series) -> pl.Series:
        lines = lines.str.strip_chars(WHITESPACE) if self.strip else lines
        return lines.str.to_lowercase() if self.ignore_case else lines

    def _patterns(self) -> list[str]:
        return [f"(?i){pattern}" if self.ignore_case else pattern for pattern in self.patterns]
