"""Checks: named rules that a plugin or a stage passes, fails, or to which they do not apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Check", "CheckResult", "CheckSkipped", "Outcome", "Violation", "require", "run_check"]

Outcome = Literal["passed", "failed", "skipped", "expected failure"]


class Violation(AssertionError):  # noqa: N818 - reads as what it is
    """A rule is broken.

    Args:
        what: The expected and the actual result.
        fix: How the author can fix it.
    """

    def __init__(self, what: str, *, fix: str) -> None:
        super().__init__(f"{what}\n  fix: {fix}")


class CheckSkipped(Exception):  # noqa: N818 - not an error: the rule does not apply
    """A rule does not apply; the message says why."""


@dataclass(frozen=True)
class Check:
    """A rule.

    Args:
        name: Its name, for reports and expected failures.
        function: Raises :class:`Violation` or :class:`CheckSkipped`, or returns.
        about: Whether it looks at a plugin or at a stage.
    """

    name: str
    function: Callable[[Any], None]
    about: Literal["plugin", "stage"]

    @property
    def summary(self) -> str:
        """The rule in one sentence."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True)
class CheckResult:
    """The result of a check.

    Args:
        check: Name of the check.
        subject: Name of the plugin or stage.
        outcome: Its outcome.
        detail: Why it failed, was skipped or was expected to fail.
    """

    check: str
    subject: str
    outcome: Outcome
    detail: str = ""


def require(condition: object, what: str, *, fix: str) -> None:
    """Raise a violation unless the condition holds."""
    if not condition:
        raise Violation(what, fix=fix)


def run_check(check: Check, subject: Any) -> None:
    """Run a check on a subject.

    Raises:
        AssertionError: The rule is broken; the message names the check, the subject and the fix.
        CheckSkipped: The rule does not apply.
    """
    try:
        check.function(subject)
    except CheckSkipped:
        raise
    except AssertionError as error:
        raise AssertionError(f"{check.name} [{subject.label}]: {error}") from error
    except Exception as error:  # a stage under test may raise anything; the author wants to know in which check
        what = f"{check.name} [{subject.label}]: {check.summary} But it raised {type(error).__name__}: {error}"
        raise AssertionError(what) from error
