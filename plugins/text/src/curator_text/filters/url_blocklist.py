"""Drop documents that come from unwanted addresses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict
from curator_text.filters.url_hosts import domain_of, hosts, in_domains
from curator_text.word_lists import packaged_list, read_lists

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch, WorkerInfo

__all__ = ["UrlBlocklist"]


@dataclass(frozen=True)
class _Rules:
    domains: pl.Series
    words: list[str]
    substrings: list[str]


@dataclass
class UrlBlocklist(Filter):
    """Drop documents whose URL is on a list of domains, or holds a listed word.

    A domain takes its sub-domains with it, never a name that merely ends like it. Millions of domains cost no more per
    document than ten. A document without a URL has nothing to judge and is dropped as ``missing_value``.

    >>> from curator_text import DocumentBatch
    >>> urls = ["https://ads.example.com/x", "https://myexample.com/", "https://other.org/casino-bonus"]
    >>> batch = DocumentBatch(data={"text": ["a", "b", "c"], "url": urls})
    >>> UrlBlocklist(domains=["example.com"], words=["casino"]).process(batch).data["text"].to_pylist()
    ['b']

    Args:
        domains: Domains to drop, such as ``example.com`` or a top-level domain such as ``xxx``.
        domain_files: Files with one domain on a line; ``#`` begins a comment.
        words: Words to drop where they stand by themselves between marks in the URL, in any case.
        word_files: Files with one such word on a line.
        substrings: Strings to drop wherever they are in the URL, in any case.
        lists: Lists that come with this package: ``adult`` has some sixty large pornographic sites, and words.
        url_field: Column with the URL.
    """

    domains: list[str] = field(default_factory=list)
    domain_files: str | list[str] | None = None
    words: list[str] = field(default_factory=list)
    word_files: str | list[str] | None = None
    substrings: list[str] = field(default_factory=list)
    lists: list[Literal["adult"]] = field(default_factory=lambda: ["adult"])
    url_field: str = "url"

    name = "text.url_blocklist"

    def __post_init__(self) -> None:
        if not (self.domains or self.domain_files or self.words or self.word_files or self.substrings or self.lists):
            raise ConfigError(f"{self.name}: nothing to block", fix='e.g. lists: [adult], or domains: ["example.com"]')
        if not all([*self.words, *self.substrings, *self.domains]):
            raise ConfigError(f"{self.name}: an entry is empty, which every URL would match")

    def inputs(self) -> list[str]:
        return [self.url_field]

    def preflight(self) -> None:
        """Read the lists, so that a missing file ends the run before it starts."""
        self._load()

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Read the lists."""
        self._rules = self._load()

    def judge(self, batch: TableBatch) -> Verdict:
        rules: _Rules = getattr(self, "_rules", None) or self._load()
        urls = batch.text(self.url_field)
        reasons = {}
        if len(rules.domains):
            reasons["blocked_domain"] = in_domains(hosts(urls), rules.domains).fill_null(value=False)
        lower = urls.str.to_lowercase() if rules.words or rules.substrings else urls
        if rules.words:
            # With every mark a space, a word is a string between spaces: one automaton finds any number of them.
            spaced = pl.select(pl.format(" {} ", lower.str.replace_all(r"[^\p{L}\p{M}\p{N}]+", " "))).to_series()
            reasons["blocked_url_word"] = spaced.str.contains_any(rules.words)
        if rules.substrings:
            reasons["blocked_url_string"] = lower.str.contains_any(rules.substrings)
        hits = pl.select(pl.sum_horizontal([mask.cast(pl.Int64) for mask in reasons.values()])).to_series()
        return Verdict(pl.select(pl.when(urls.is_not_null()).then(hits)).to_series(), reasons)

    def _load(self) -> _Rules:
        domains, words = list(self.domains), list(self.words)
        for each in self.lists:
            domains += packaged_list(f"{each}_domains")
            words += packaged_list(f"{each}_url_words")
        if self.domain_files:
            domains += read_lists(self.domain_files, stage=self.name)
        if self.word_files:
            words += read_lists(self.word_files, stage=self.name)
        return _Rules(
            domains=pl.Series([domain_of(each) for each in domains], dtype=pl.String).unique(),
            words=sorted({f" {each.strip().lower()} " for each in words}),
            substrings=sorted({each.lower() for each in self.substrings}),
        )
