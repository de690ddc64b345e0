"""Drop documents with many characters that are not common in a language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curator_core.sdk import ConfigError
from curator_text.filters.rule_filter import Rule, RuleFilter
from curator_text.filters.share import check_share, share
from curator_text.metrics.known_characters import known_characters

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

__all__ = ["Histogram", "read_histogram"]


@dataclass
class Histogram(RuleFilter):
    r"""Keep documents of which more than ``min_share`` of the characters are common in a language.

    Which ones are common is read from a file: the first character of each line, most frequent first, up to a line that
    starts with ``last``; what follows is rare. White space at the ends of a document is not common. This is NeMo
    Curator's ``HistogramFilter``, after the NLLB paper (Costa-jussà et al. 2022, section 5.1.3), whose score is one or
    zero; ours is the share. It downloads the histograms of the M2M-100 project when it is made; ours reads a file that
    you name (one of ``clean_hists`` in https://dl.fbaipublicfiles.com/m2m_100/histograms.tar.gz, for example). An empty
    document has share zero; NeMo Curator raises.

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
        min_share: A document is kept if its share is more than this, from 0 to 1.
        last: Character that ends the list of common ones.
        text_field: Column with the text.
    """

    path: str
    min_share: float = 0.8
    last: str = "]"

    name = "text.histogram"

    def __post_init__(self) -> None:
        check_share(self.name, min_share=self.min_share)
        self._common: str | None = None

    def score(self) -> pl.Expr:
        return share("known_chars", "chars", of_nothing=0.0)

    def rules(self) -> Sequence[Rule]:
        if self._common is None:
            self._common = read_histogram(self.path, self.last)
        return [Rule("uncommon_characters", known_characters(self._common), self.score() <= self.min_share)]


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
