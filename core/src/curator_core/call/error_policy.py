"""The error policy: how often a failing call is retried, and what happens to a task that keeps failing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from curator_core.call.out_of_memory import is_out_of_memory
from curator_core.values.errors import ConfigError, CuratorError, DataError, StageError

if TYPE_CHECKING:
    from curator_core.authoring.recording import Recording
    from curator_core.authoring.stage import OnError, ProcessingStage
    from curator_core.authoring.tasks import Task
    from curator_core.call.quarantine_record import QuarantineRecord
    from curator_core.values.stats import StageStats

__all__ = ["CallReports", "ErrorPolicy", "is_worth_isolating", "policy_for", "retry_delay_s", "tries"]

_POLICIES = ("quarantine", "raise", "skip")
_FIRST_DELAY_S = 0.1
_MAX_DELAY_S = 5.0


class CallReports(Protocol):
    """Where a stage runner leaves statistics, quarantined records and dropped rows."""

    def stats_of(self, stage_name: str) -> StageStats:
        """Return the statistics of a stage, made at its first use."""

    def quarantine(self, record: QuarantineRecord, task: Task[Any] | None = None) -> None:
        """Put a record in quarantine, with its task or rows if available."""

    def skip(self, record: QuarantineRecord) -> None:
        """Count a record that is not kept."""

    def keep_dropped(self, stage_name: str, task_id: str, recording: Recording) -> None:
        """Keep the rows that a filter handed over."""


@dataclass(frozen=True)
class ErrorPolicy:
    """What to do about failing calls.

    Args:
        on_error: What happens to a task that keeps failing.
        max_attempts: How often a call is tried in all.
    """

    on_error: OnError = "quarantine"
    max_attempts: int = 3

    def __post_init__(self) -> None:
        if self.on_error not in _POLICIES:
            raise ConfigError(f"on_error must be one of {', '.join(_POLICIES)}, got {self.on_error!r}")
        if self.max_attempts < 1:
            raise ConfigError(f"max_attempts must be at least 1, got {self.max_attempts}", fix="use 1 for no retries")

    def apply(
        self,
        record: QuarantineRecord,
        task: Task[Any] | None,
        reports: CallReports,
        *,
        cause: BaseException | None,
        fix: str = "fix the input or the stage, or use on_error: quarantine to continue without it",
    ) -> None:
        """Apply the policy to a task or record that cannot be processed.

        Args:
            record: What is known about it.
            task: The task or the rows, where they are at hand.
            reports: Where the record is kept or counted.
            cause: Why it failed.
            fix: What the user can do if it ends the run.

        Raises:
            StageError: The policy is to end the run.
        """
        if self.on_error == "raise":
            raise StageError(
                f"stage {record.stage!r} failed on {record.where}: {record.error_type}: {record.message}", fix=fix
            ) from cause
        if self.on_error == "skip":
            reports.skip(record)
        else:
            reports.quarantine(record, task)


def policy_for(stage: ProcessingStage, default: ErrorPolicy) -> ErrorPolicy:  # type: ignore[type-arg]
    """Return the stage's own policy, filled up from the executor's default."""
    return ErrorPolicy(
        on_error=stage.on_error or default.on_error,
        max_attempts=default.max_attempts if stage.max_attempts is None else stage.max_attempts,
    )


def retry_delay_s(error: BaseException, attempt: int) -> float:
    """Return how long to wait before trying again.

    Trouble of the outside world (files, network) gets time to pass; a bug in the stage does not get better by waiting.

    >>> retry_delay_s(ConnectionError(), attempt=2)
    0.2
    >>> retry_delay_s(ValueError(), attempt=2)
    0.0
    """
    if not isinstance(error, (OSError, TimeoutError)) or isinstance(error, (FileNotFoundError, PermissionError)):
        return 0.0
    return min(_FIRST_DELAY_S * 2.0 ** (attempt - 1), _MAX_DELAY_S)


def tries(policy: ErrorPolicy, error: BaseException, *, can_divide: bool, is_part: bool = False) -> int:
    """Return how often a call is tried in all before something else is done about it.

    What can be divided is not tried again as it is when it ran out of memory, because less of it may fit, nor when it
    is a part of something that has had all its tries.

    >>> tries(ErrorPolicy(), ValueError(), can_divide=True), tries(ErrorPolicy(), MemoryError(), can_divide=True)
    (3, 1)
    """
    return 1 if can_divide and (is_part or is_out_of_memory(error)) else policy.max_attempts


def is_worth_isolating(error: BaseException, policy: ErrorPolicy) -> bool:
    """Return whether to look for guilty rows in a table.

    Not when the whole table is unfit (missing column, wrong type), and not when the first failure ends the run, unless
    it ran out of memory: then no row may be guilty.
    """
    if is_out_of_memory(error):
        return True
    is_about_rows = isinstance(error, DataError) or not isinstance(error, CuratorError)
    return is_about_rows and policy.on_error != "raise"
