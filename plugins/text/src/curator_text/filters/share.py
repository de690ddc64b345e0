"""Shares of a whole as polars expressions, and the checks of limits on them."""

from __future__ import annotations

import polars as pl

from curator_core.sdk import ConfigError

__all__ = ["check_positive", "check_share", "share"]


def share(part: str | pl.Expr, whole: str, *, of_nothing: float) -> pl.Expr:
    """Return one number divided by another, and ``of_nothing`` where there is nothing to divide by.

    >>> pl.DataFrame({"a": [1, 0], "b": [2, 0]}).select(share("a", "b", of_nothing=1.0))["share"].to_list()
    [0.5, 1.0]
    """
    count = pl.col(part) if isinstance(part, str) else part
    return pl.when(pl.col(whole) == 0).then(of_nothing).otherwise(count / pl.col(whole)).alias("share")


def check_share(stage_name: str, **limits: float) -> None:
    """Refuse a share that is not between zero and one.

    >>> check_share("text.numbers", max_share=0.15)

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
