"""The conformance kit: named checks that every plugin and every stage should pass.

Three lines in a test file run them all; see :func:`parametrize_with_checks`.
"""

from __future__ import annotations

from curator_devkit.testing.check import Check, CheckResult, CheckSkipped, Violation
from curator_devkit.testing.example import Example
from curator_devkit.testing.pytest_support import parametrize_with_checks
from curator_devkit.testing.suite import all_checks, bound_checks, check_plugin, check_stage

__all__ = [
    "Check",
    "CheckResult",
    "CheckSkipped",
    "Example",
    "Violation",
    "all_checks",
    "bound_checks",
    "check_plugin",
    "check_stage",
    "parametrize_with_checks",
]
