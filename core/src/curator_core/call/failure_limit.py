"""Decide from a stage's counts whether too many of its rows have failed for the run to continue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.values.errors import ConfigError, TooManyFailuresError

if TYPE_CHECKING:
    from curator_core.values.stats import StageStats

__all__ = ["MIN_ROWS", "checked_fraction", "too_many_failures"]

MIN_ROWS = 100
"""The fraction is one of at least so many rows: a single bad row at the start of a run says little about the rest."""
_SHOWN_REASONS = 3


def checked_fraction(fraction: float | None) -> float | None:
    """Return the largest fraction of a stage's rows that may fail, as an executor is given it.

    Raises:
        ConfigError: It is not between 0 and 1.
    """
    if fraction is not None and not 0 <= fraction <= 1:
        raise ConfigError(f"max_failed_fraction must be between 0 and 1, got {fraction}", fix="use 0.05 for 5 %")
    return fraction


def too_many_failures(stats: StageStats, fraction: float) -> TooManyFailuresError | None:
    """Return the error, naming the most frequent reasons, where more than a fraction of a stage's rows have failed."""
    failed, seen = stats.rows_failed, stats.rows_seen
    if failed <= fraction * max(seen, MIN_ROWS):
        return None
    top = stats.failed.most_common(_SHOWN_REASONS)
    reasons = ", ".join(f"{reason} ({rows:,})" for reason, rows in top)
    more = len(stats.failed) - len(top)
    return TooManyFailuresError(
        f"stage {stats.name!r} failed on {failed:,} of {seen:,} rows ({failed / max(seen, 1):.1%}), more than "
        f"max_failed_fraction allows ({fraction:.1%}): {reasons}{f' and {more} more' if more else ''}",
        fix="look at the records with `curator quarantine ls RUN_DIR`, fix the input or the stage, or raise "
        "max_failed_fraction",
    )
