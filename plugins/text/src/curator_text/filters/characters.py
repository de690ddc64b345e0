"""Drop documents by their length, or by kinds of characters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict, check_range
from curator_text.checks import check_fraction
from curator_text.filters.rules import ratio
from curator_text.metrics.surface import SURFACE, compile_surface, known_characters

if TYPE_CHECKING:
    from curator_core.sdk import NodeInfo, TableBatch
    from curator_text.metrics.group import MetricGroup

__all__ = ["Histogram", "Length", "NonAlphaNumeric", "Numbers", "Parentheses", "WhiteSpace", "read_histogram"]


@dataclass
class Length(Filter):
    """Keep documents of ``min_length`` to ``max_length`` bytes, characters or words.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["größer", "groß"]})
    >>> Length(unit="bytes", max_length=5).process(batch).data["text"].to_pylist()
    ['groß']

    Args:
        unit: Unit of length: ``bytes`` of UTF-8, ``chars`` (code points) or ``words`` (between whitespace).
        min_length: Minimum to keep a document; None is no limit.
        max_length: Maximum to keep a document; None is no limit.
        text_column: Column with the text.
    """

    unit: Literal["bytes", "chars", "words"] = "chars"
    min_length: int | None = None
    max_length: int | None = None
    text_column: str = "text"

    name = "text.length"

    def __post_init__(self) -> None:
        if self.min_length is None and self.max_length is None:
            raise ConfigError(f"{self.name}: no limit is given", fix="e.g. min_length: 200")
        check_range(self.name, min_length=self.min_length, max_length=self.max_length)

    def judge(self, batch: TableBatch) -> Verdict:
        texts = batch.text(self.text_column)
        if self.unit == "words":
            size = SURFACE.of(batch, self.text_column)["words"]
        else:
            size = texts.str.len_bytes() if self.unit == "bytes" else texts.str.len_chars()
        return Verdict.between(
            size.cast(pl.Int64), self.min_length, self.max_length, below="too_short", above="too_long"
        )


@dataclass
class NonAlphaNumeric(Filter):
    """Keep documents in which at most ``max_fraction`` of the characters are not alphanumeric.

    Alphanumeric are the letters, combining marks and numbers of every script, and the newline and ``? ! , .``; all
    else, spaces included, is not. Characters are code points. On ASCII text the fraction is that of NeMo Curator's
    ``NonAlphaNumericFilter``, whose default this is; that filter counts all other letters as symbols and so drops most
    languages: ``ascii_only`` does the same. An empty document scores one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["### --- ###", "Plain words."]})
    >>> NonAlphaNumeric().process(batch).data["text"].to_pylist()
    ['Plain words.']

    Args:
        max_fraction: Largest fraction to keep a document, from 0 to 1.
        ascii_only: Whether only letters and digits of ASCII are alphanumeric.
        text_column: Column with the text.
    """

    max_fraction: float = 0.25
    ascii_only: bool = False
    text_column: str = "text"

    name = "text.non_alpha_numeric"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        content = pl.col("ascii_content_chars" if self.ascii_only else "content_chars")
        found = SURFACE.score(batch, self.text_column, ratio(pl.col("chars") - content, "chars", of_nothing=1.0))
        return Verdict(found, {"too_many_symbols": found > self.max_fraction})


@dataclass
class Numbers(Filter):
    """Keep documents in which at most ``max_fraction`` of the characters are digits.

    Digits are those of every script (Unicode category Nd). This is NeMo Curator's ``NumbersFilter``. An empty document
    scores one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["call 555 1234", "call me"]})
    >>> Numbers().process(batch).data["text"].to_pylist()
    ['call me']

    Args:
        max_fraction: Largest fraction of digits to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    max_fraction: float = 0.15
    text_column: str = "text"

    name = "text.numbers"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(batch, self.text_column, ratio("digit_chars", "chars", of_nothing=1.0))
        return Verdict(found, {"too_many_digits": found > self.max_fraction})


@dataclass
class Parentheses(Filter):
    """Keep documents in which at most ``max_fraction`` of the characters are brackets.

    Brackets are ``( ) { } [ ] ⟨ ⟩``, as in NeMo Curator's ``ParenthesesFilter``: what stands between them does not
    count. An empty document scores one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["f(g(x))", "f of g of x"]})
    >>> Parentheses().process(batch).data["text"].to_pylist()
    ['f of g of x']

    Args:
        max_fraction: Largest fraction of brackets to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    max_fraction: float = 0.1
    text_column: str = "text"

    name = "text.parentheses"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(batch, self.text_column, ratio("bracket_chars", "chars", of_nothing=1.0))
        return Verdict(found, {"too_many_parentheses": found > self.max_fraction})


@dataclass
class WhiteSpace(Filter):
    """Keep documents in which at most ``max_fraction`` of the characters are white space.

    White space is space, tab, newline, carriage return and backspace, as in NeMo Curator's ``WhiteSpaceFilter``; that
    at the ends of a document counts. An empty document scores one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["a  b  c", "some words"]})
    >>> WhiteSpace().process(batch).data["text"].to_pylist()
    ['some words']

    Args:
        max_fraction: Largest fraction of white space to keep a document, from 0 to 1.
        text_column: Column with the text.
    """

    max_fraction: float = 0.25
    text_column: str = "text"

    name = "text.white_space"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)

    def judge(self, batch: TableBatch) -> Verdict:
        found = SURFACE.score(batch, self.text_column, ratio("blank_chars", "chars", of_nothing=1.0))
        return Verdict(found, {"too_much_white_space": found > self.max_fraction})


@dataclass
class Histogram(Filter):
    r"""Keep documents in which more than ``min_fraction`` of the characters are common in a language.

    Which ones are common is read from a file: the first character of each line, most frequent first, up to a line that
    starts with ``last``; what follows is rare. White space at the ends of a document is not common. This is NeMo
    Curator's ``HistogramFilter``, after the NLLB paper (Costa-jussà et al. 2022, section 5.1.3), whose score is one or
    zero; ours is the fraction. It downloads the histograms of the M2M-100 project when it is made; ours reads a file
    that you name (one of ``clean_hists`` in https://dl.fbaipublicfiles.com/m2m_100/histograms.tar.gz, for example). An
    empty document scores zero; NeMo Curator raises.

    >>> import tempfile
    >>> from curator_text import DocumentBatch
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
    ...     _ = file.write("e 90\na 70\n  60\nb 9\n] 1\nz 1\n")
    ...     file.flush()
    ...     kept = Histogram(path=file.name).process(DocumentBatch(data={"text": ["a bee", "a zzz"]}))
    >>> kept.data["text"].to_pylist()
    ['a bee']

    Args:
        path: File with the characters of the language.
        min_fraction: A document is kept if its fraction is more than this, from 0 to 1.
        last: Character that ends the list of common ones.
        text_column: Column with the text.
    """

    path: str
    min_fraction: float = 0.8
    last: str = "]"
    text_column: str = "text"

    name = "text.histogram"

    def __post_init__(self) -> None:
        check_fraction(self.name, min_fraction=self.min_fraction)

    def preflight(self) -> None:
        """Read the file, so that a missing one ends the run before it starts."""
        _ = self._known

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        self._known.prepare()

    def judge(self, batch: TableBatch) -> Verdict:
        found = self._known.score(batch, self.text_column, ratio("known_chars", "chars", of_nothing=0.0))
        return Verdict(found, {"uncommon_characters": found <= self.min_fraction})

    @cached_property
    def _known(self) -> MetricGroup:
        return known_characters(read_histogram(self.path, self.last))


def read_histogram(path: str, last: str) -> str:
    """Return the first characters of a file's lines, up to a line that starts with ``last``.

    Raises:
        ConfigError: The file cannot be read, or lists no character.
    """
    try:
        with Path(path).open(encoding="utf-8") as file:
            firsts = [line[0] for line in file]
    except (OSError, UnicodeDecodeError) as error:
        fix = "name a file with one character a line"
        raise ConfigError(f"text.histogram: cannot read {path}: {error}", fix=fix) from error
    common = firsts[: firsts.index(last)] if last in firsts else firsts
    if not common:
        raise ConfigError(f"text.histogram: {path} lists no character before {last!r}")
    return "".join(dict.fromkeys(common))
