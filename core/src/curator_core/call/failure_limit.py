"""When too much of a run fails for it to continue: a pure decision over what its stages have counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.values.errors import ConfigError, TooManyFailuresError

if TYPE_CHECKING:
    from curator_core.values.stats import StageStats

__all__ = ["MIN_ROWS", "FailureLimit", "checked_fraction"]

MIN_ROWS = 100
"""The fraction is one of at least so many rows: a single bad row at the start of a run says little about the rest."""
_SHOWN_REASONS = 3


@dataclass(frozen=True)
class FailureLimit:
    """The largest fraction of a stage's rows that may fail.

    >>> FailureLimit(0.05).is_exceeded(failed=5, seen=7), FailureLimit(0.05).is_exceeded(failed=6, seen=100)
    (False, True)

    Args:
        fraction: 0 to 1; 0 ends a run at the first failure.
    """

    fraction: float

    def __post_init__(self) -> None:
        if not 0 <= self.fraction <= 1:
            raise ConfigError(
                f"max_failed_fraction must be between 0 and 1, got {self.fraction}", fix="use 0.05 for 5 %"
            )

    def is_exceeded(self, *, failed: int, seen: int) -> bool:
        """Return whether so many failed rows, of all that a stage has seen, are too many."""
        return failed > self.fraction * max(seen, MIN_ROWS)

    def check(self, stats: StageStats) -> None:
        """Raise where a stage is over the limit.

        Raises:
            TooManyFailuresError: It is; names the most frequent reasons.
        """
        failed, seen = stats.rows_failed, stats.rows_seen
        if not self.is_exceeded(failed=failed, seen=seen):
            return
        top = stats.failed.most_common(_SHOWN_REASONS)
        reasons = ", ".join(f"{reason} ({rows:,})" for reason, rows in top)
        more = len(stats.failed) - len(top)
        raise TooManyFailuresError(
            f"stage {stats.name!r} failed on {failed:,} of {seen:,} rows ({failed / max(seen, 1):.1%}), more than "
            f"max_failed_fraction allows ({self.fraction:.1%}): {reasons}{f' and {more} more' if more else ''}",
            fix="look at the records with `curator quarantine ls RUN_DIR`, fix the input or the stage, or raise "
            "max_failed_fraction",
        )


def checked_fraction(fraction: float | None) -> float | None:
    """Return the fraction that an executor is given, if it is one.

    Raises:
        ConfigError: It is not between 0 and 1.
    """
    return None if fraction is None else FailureLimit(fraction).fraction
