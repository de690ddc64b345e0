"""One pytest test per check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.sdk import ConfigError
from curator_devkit.testing.check import CheckSkipped
from curator_devkit.testing.suite import bound_checks

if TYPE_CHECKING:
    import types
    from collections.abc import Mapping

    from curator_devkit.testing.example import ExampleSource
    from curator_devkit.testing.suite import BoundCheck

__all__ = ["parametrize_with_checks"]


class _CheckTest:
    """Calls a check; a skipped check becomes a skipped test."""

    def __init__(self, bound: BoundCheck) -> None:
        self._bound = bound

    def __call__(self) -> None:
        import pytest

        try:
            self._bound.run()
        except CheckSkipped as skipped:
            if self._bound.expected_failure:
                raise ConfigError(f"{self._bound} is expected to fail, but does not apply: {skipped}") from skipped
            pytest.skip(str(skipped))


def parametrize_with_checks(
    plugin: str | types.ModuleType,
    *,
    examples: Mapping[str, ExampleSource] | None = None,
    expected_failures: Mapping[str, Mapping[str, str]] | None = None,
) -> Any:
    """Make a pytest test of every check for a plugin and for each of its stages.

    The whole test file of a plugin::

        from curator_devkit.testing import parametrize_with_checks

        @parametrize_with_checks("acme")
        def test_conformance(check):
            check()

    Args:
        plugin: Name of an installed plugin, or a plugin module.
        examples: Examples by full name of the stage, for those whose input cannot be guessed.
        expected_failures: Reason by check, by stage or plugin name. Strict: one that passes is a failure.
    """
    import pytest

    tests = []
    checks = bound_checks(plugin, examples=examples, expected_failures=expected_failures, examples_required=True)
    for bound in checks:
        reason = bound.expected_failure
        marks = [pytest.mark.xfail(reason=reason, strict=True, raises=AssertionError)] if reason else []
        tests.append(pytest.param(_CheckTest(bound), id=str(bound), marks=marks))
    return pytest.mark.parametrize("check", tests)
