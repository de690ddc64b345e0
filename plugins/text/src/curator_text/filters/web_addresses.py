"""Drop documents by the web addresses in them, or by the one they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict
from curator_text.checks import check_fraction, check_pattern
from curator_text.filters.rules import ratio
from curator_text.metrics.surface import SURFACE, addresses, compile_surface
from curator_text.word_lists import packaged_list, read_lists

if TYPE_CHECKING:
    from curator_core.sdk import TableBatch, WorkerInfo

__all__ = ["PornographicUrls", "UrlBlocklist", "Urls", "domain_of", "hosts", "in_domains"]

_URL_WITH_PORN = r"https?://[!$-_a-z]*porn"
"""The characters are those of the URL pattern of NeMo Curator, in which ``$-_`` is a range."""
_HOST = r"^\s*(?:(?:[a-z][a-z0-9+.\-]*:)?//)?(?:[^/?#@\s]*@)?(\[[0-9a-f:.]+\]|[^/?#:\s]+)"
"""An address in lower case up to its host: scheme, user and password are optional, port and path follow."""


@dataclass
class Urls(Filter):
    r"""Keep documents in which at most ``max_fraction`` of the characters are in URLs.

    A URL is ``http://`` or ``https://`` and all that follows of ASCII letters, digits, ``$-_@.&+/:=?#~!*(),`` and
    percent signs with two hexadecimal digits, as in NeMo Curator's ``UrlsFilter``. An empty document scores one.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["https://example.org/", "Read https://a.io/ if you have the time"]})
    >>> Urls(max_fraction=0.4).process(batch).data["text"].to_pylist()
    ['Read https://a.io/ if you have the time']

    Args:
        max_fraction: Largest fraction of characters in URLs to keep a document, from 0 to 1.
        url_regex: Another pattern for URLs, in the syntax of Rust's regex crate: ``https?://[^\s"'<>]+``. Whole matches
            count, whatever the groups.
        text_column: Column with the text.
    """

    max_fraction: float = 0.2
    url_regex: str | None = None
    text_column: str = "text"

    name = "text.urls"
    setup_on_node = compile_surface

    def __post_init__(self) -> None:
        check_fraction(self.name, max_fraction=self.max_fraction)
        if self.url_regex is not None:
            check_pattern(self.name, self.url_regex)

    def judge(self, batch: TableBatch) -> Verdict:
        group = SURFACE if self.url_regex is None else addresses(self.url_regex)
        found = group.score(batch, self.text_column, ratio("url_chars", "chars", of_nothing=1.0))
        return Verdict(found, {"too_many_urls": found > self.max_fraction})


@dataclass
class PornographicUrls(Filter):
    """Drop documents in which some URL holds the letters "porn".

    This is NeMo Curator's ``PornographicUrlsFilter``; the addresses it looks at are those in the text. For the address
    a document came from, see ``text.url_blocklist``.

    >>> from curator_text import DocumentBatch
    >>> batch = DocumentBatch(data={"text": ["see http://porn.example/", "pornography is a word"]})
    >>> PornographicUrls().process(batch).data["text"].to_pylist()
    ['pornography is a word']

    Args:
        text_column: Column with the text.
    """

    text_column: str = "text"

    name = "text.pornographic_urls"

    def judge(self, batch: TableBatch) -> Verdict:
        found = batch.text(self.text_column).str.contains(_URL_WITH_PORN)
        return Verdict(found.cast(pl.Int64), {"pornographic_url": found})


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
        url_column: Column with the URL.
    """

    domains: list[str] = field(default_factory=list)
    domain_files: str | list[str] | None = None
    words: list[str] = field(default_factory=list)
    word_files: str | list[str] | None = None
    substrings: list[str] = field(default_factory=list)
    lists: list[Literal["adult"]] = field(default_factory=lambda: ["adult"])
    url_column: str = "url"

    name = "text.url_blocklist"

    def __post_init__(self) -> None:
        if not (self.domains or self.domain_files or self.words or self.word_files or self.substrings or self.lists):
            raise ConfigError(f"{self.name}: nothing to block", fix='e.g. lists: [adult], or domains: ["example.com"]')
        if not all([*self.words, *self.substrings, *self.domains]):
            raise ConfigError(
                f"{self.name}: domains, words and substrings must not hold empty strings",
                fix="remove the empty entries",
            )

    def inputs(self) -> list[str]:
        return [self.url_column]

    def preflight(self) -> None:
        """Read the lists, so that a missing file ends the run before it starts."""
        self._load()

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Read the lists."""
        self._rules = self._load()

    def judge(self, batch: TableBatch) -> Verdict:
        rules: _Rules = getattr(self, "_rules", None) or self._load()
        urls = batch.text(self.url_column)
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


def hosts(urls: pl.Series) -> pl.Series:
    """Return the host of each URL in lower case, in the ASCII form of international names; null where there is none.

    >>> hosts(pl.Series(["HTTPS://me@Www.Example.com:8080/a", "example.org/b", "https://bücher.de", None])).to_list()
    ['www.example.com', 'example.org', 'xn--bcher-kva.de', None]
    """
    found = urls.str.to_lowercase().str.extract(_HOST, 1).str.strip_chars_end(".")
    foreign = found.filter(found.str.contains(r"[^\x00-\x7f]")).unique()
    if foreign.is_empty():
        return found
    encoded: pl.Series = found.replace(foreign, pl.Series([domain_of(each) for each in foreign], dtype=pl.String))
    return encoded


def in_domains(names: pl.Series, domains: pl.Series) -> pl.Series:
    """Mark the hosts that are one of the domains or lie below one.

    A join of each host's last labels with the set: the time does not depend on how many domains there are.

    >>> in_domains(pl.Series(["a.b.org", "b.org", "ab.org", None]), pl.Series(["b.org"])).to_list()
    [True, True, False, None]

    Args:
        names: Hosts, as :func:`hosts` returns them.
        domains: Domains, as :func:`domain_of` returns them.
    """
    distinct = names.drop_nulls().unique()
    blocked = pl.repeat(value=False, n=len(distinct), eager=True)
    members = domains.unique().implode()
    for labels in domains.str.count_matches(".", literal=True).unique().sort().to_list():
        ending = distinct.str.extract(rf"([^.]+(?:\.[^.]+){{{labels}}})$", 1)
        blocked |= ending.is_in(members).fill_null(value=False)
    marked: pl.Series = names.is_in(distinct.filter(blocked).implode())
    return marked


def domain_of(entry: str) -> str:
    """Return an entry of a list of domains in the form that hosts have.

    >>> domain_of("*.Example.COM"), domain_of("https://bücher.de/x"), domain_of(".org")
    ('example.com', 'xn--bcher-kva.de', 'org')
    """
    name = entry.strip().lower().rpartition("://")[2].partition("/")[0].strip(".").removeprefix("*.")
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:  # not a name that a server could have
        return name
