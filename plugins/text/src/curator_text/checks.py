"""Check parameters when a stage is made, with errors that name the problem."""

from __future__ import annotations

import polars as pl

from curator_core.sdk import ConfigError

__all__ = ["check_fraction", "check_pattern", "check_positive"]


def check_pattern(stage_name: str, pattern: str) -> None:
    r"""Refuse a regular expression that polars cannot compile.

    >>> check_pattern("text.regex", r"\d+")

    Raises:
        ConfigError: It is not valid.
    """
    try:
        pl.Series([""]).str.contains(pattern)
    except pl.exceptions.ComputeError as error:
        raise ConfigError(
            f"{stage_name}: {pattern!r} is not a regular expression: {str(error).strip()}",
            fix="use the syntax of Rust's regex crate, which has no look-around and no back-references",
        ) from error


def check_fraction(stage_name: str, **limits: float) -> None:
    """Refuse a fraction that is not between 0 and 1.

    >>> check_fraction("text.numbers", max_fraction=0.15)

    Raises:
        ConfigError: It is not.
    """
    for name, value in limits.items():
        if not 0 <= value <= 1:
            raise ConfigError(f"{stage_name}: {name} must be between 0 and 1, got {value}", fix="write 25 % as 0.25")


def check_positive(stage_name: str, **numbers: float) -> None:
    """Refuse a number below one.

    >>> check_positive("text.long_word", max_length=1000)

    Raises:
        ConfigError: It is.
    """
    for name, value in numbers.items():
        if value < 1:
            raise ConfigError(f"{stage_name}: {name} must be at least 1, got {value}")
