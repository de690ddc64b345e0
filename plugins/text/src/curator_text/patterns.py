"""Regular expressions that users give: checked when a stage is made, with an error that shows what is wrong."""

from __future__ import annotations

import polars as pl

from curator_core.sdk import ConfigError

__all__ = ["check_pattern"]


def check_pattern(stage_name: str, pattern: str) -> None:
    r"""Refuse a regular expression that polars cannot compile.

    >>> check_pattern("text.regex", r"\d+")

    Raises:
        ConfigError: Says what is wrong with it.
    """
    try:
        pl.Series([""]).str.contains(pattern)
    except pl.exceptions.ComputeError as error:
        raise ConfigError(
            f"{stage_name}: {pattern!r} is not a regular expression: {str(error).strip()}",
            fix="use the syntax of Rust's regex crate, which has no look-around and no back-references",
        ) from error
