"""Characters in addresses, by a regular expression of the user's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from curator_core.sdk import ConfigError
from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["addresses", "check_regex"]


@cache
def addresses(regex: str) -> MetricGroup:
    r"""Return the group of ``chars`` and ``url_chars``: characters in all, and in matches of an expression.

    >>> addresses(r"www[.]\S+").of_texts(pl.Series(["see www.a.io"]))["url_chars"].to_list()
    [8]
    """

    def measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
        series = texts.series()
        matched = series.str.extract_all(regex).list.eval(pl.element().str.len_chars()).list.sum()
        return {"chars": series.str.len_chars().to_numpy(), "url_chars": matched.to_numpy()}

    return MetricGroup(f"addresses {regex}", measure)


def check_regex(stage_name: str, parameter: str, expression: str) -> None:
    """Refuse an expression that cannot be compiled.

    >>> check_regex("text.urls", "url_regex", "https?://.+")

    Raises:
        ConfigError: It cannot.
    """
    try:
        pl.Series([""]).str.extract_all(expression)
    except pl.exceptions.PolarsError as error:
        fix = "write it in the syntax of Rust's regex crate, which has no look-around and no back-references"
        raise ConfigError(f"{stage_name}: {parameter} is no regular expression: {error}", fix=fix) from error
