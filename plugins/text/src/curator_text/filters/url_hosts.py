"""Hosts of URLs, and whether they belong to a set of domains, for a whole column at a time."""

from __future__ import annotations

import polars as pl

__all__ = ["domain_of", "hosts", "in_domains"]

_HOST = r"^\s*(?:(?:[a-z][a-z0-9+.\-]*:)?//)?(?:[^/?#@\s]*@)?(\[[0-9a-f:.]+\]|[^/?#:\s]+)"
"""An address in lower case up to its host: scheme, user and password are optional, port and path follow."""


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
