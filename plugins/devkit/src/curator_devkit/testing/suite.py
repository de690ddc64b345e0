"""Bring checks and subjects together: for one stage, or for a plugin and everything it offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from curator_core.sdk import ConfigError, PluginError, Registry, TableBatch, UnknownNameError
from curator_devkit.testing import behaviour_checks, declaration_checks, plugin_checks
from curator_devkit.testing.check import Check, CheckResult, CheckSkipped, run_check
from curator_devkit.testing.example import Example
from curator_devkit.testing.subjects import PluginSubject, StageSubject

if TYPE_CHECKING:
    import types
    from collections.abc import Iterator, Sequence

    from curator_core.sdk import ProcessingStage, Task
    from curator_devkit.testing.example import ExampleSource

__all__ = ["BoundCheck", "all_checks", "bound_checks", "check_plugin", "check_stage"]

ExpectedFailures = Mapping[str, Mapping[str, str]]
"""Reason by check, by stage (or plugin)."""


@dataclass(frozen=True)
class BoundCheck:
    """A check and its subject.

    Args:
        check: The rule.
        subject: The plugin or stage.
        expected_failure: Why it is known to fail, where it is.
    """

    check: Check
    subject: PluginSubject | StageSubject
    expected_failure: str | None = None

    def __str__(self) -> str:
        return f"{self.subject.label}-{self.check.name}"

    def run(self) -> None:
        """Run the check; see :func:`run_check`."""
        run_check(self.check, self.subject)

    def result(self) -> CheckResult:
        """Run the check and return its result."""
        name, label, reason = self.check.name, self.subject.label, self.expected_failure
        try:
            self.run()
        except CheckSkipped as skipped:
            if reason:
                what = f"{name} [{label}]: is expected to fail, but does not apply: {skipped}"
                return CheckResult(name, label, "failed", what)
            return CheckResult(name, label, "skipped", str(skipped))
        except AssertionError as error:
            return CheckResult(name, label, "expected failure" if reason else "failed", reason or str(error))
        if reason:
            what = f"{name} [{label}]: is expected to fail ({reason}), but passes\n  fix: remove the expectation"
            return CheckResult(name, label, "failed", what)
        return CheckResult(name, label, "passed")


@cache
def all_checks() -> tuple[Check, ...]:
    """Return every check of the kit, those for plugins first.

    >>> [each.name for each in all_checks() if each.about == "plugin"][0]
    'check_plugin_loads'
    """
    return (
        *_checks_in(plugin_checks, "plugin"),
        *_checks_in(declaration_checks, "stage"),
        *_checks_in(behaviour_checks, "stage"),
    )


def check_stage(
    stage: ProcessingStage[Any, Any] | type[ProcessingStage[Any, Any]],
    *,
    example: TableBatch | Sequence[Task[Any]] | None = None,
    expected_failures: Mapping[str, str] | None = None,
) -> list[CheckResult]:
    """Run all checks for stages on one stage.

    Args:
        stage: The stage, or its class if it has default parameters.
        example: Input it can process; made by default for stages that read text columns row by row.
        expected_failures: Checks that are known to fail, each with the reason. One that passes is a failure.

    Returns:
        The result of each check.

    Raises:
        AssertionError: Lists every check that failed, with the fix.
    """
    tasks = [example] if isinstance(example, TableBatch) else example
    subject = StageSubject(stage, example=Example(tasks=tasks))
    expected = {subject.label: dict(expected_failures or {})}
    _validate(expected, {subject.label})
    return _raise_failures([each.result() for each in _bind(subject, "stage", expected)])


def check_plugin(
    plugin: str | types.ModuleType,
    *,
    examples: Mapping[str, ExampleSource] | None = None,
    expected_failures: ExpectedFailures | None = None,
) -> list[CheckResult]:
    """Run all checks on a plugin and on every stage that it offers.

    Args:
        plugin: Name of an installed plugin, or a plugin module.
        examples: Examples by full name of the stage.
        expected_failures: Reason by check, by stage or plugin name.

    Returns:
        The result of each check.

    Raises:
        AssertionError: Lists every check that failed, with the fix.
    """
    bound = bound_checks(plugin, examples=examples, expected_failures=expected_failures, examples_required=True)
    return _raise_failures([each.result() for each in bound])


def bound_checks(
    plugin: str | types.ModuleType,
    *,
    examples: Mapping[str, ExampleSource] | None = None,
    expected_failures: ExpectedFailures | None = None,
    examples_required: bool = False,
) -> list[BoundCheck]:
    """Return all checks for a plugin and its stages, without running them.

    Args:
        plugin: Name of an installed plugin, or a plugin module.
        examples: Examples by full name of the stage.
        expected_failures: Reason by check, by stage or plugin name.
        examples_required: Whether a stage that needs an example and has none fails, or skips the checks that use it.

    Raises:
        PluginError: There is no such plugin.
        UnknownNameError: An example or expected failure is for a stage or check that does not exist.
        ConfigError: An expected failure has no reason.
    """
    name, registry = _registry_with(plugin)
    info = next((each for each in registry.plugins if each.name == name and each.status != "shadowed"), None)
    if info is None:
        raise PluginError(f"plugin {name!r} is not installed", fix="install the distribution (pip install -e .) first")
    subject = PluginSubject(info, registry)
    names = {each.full_name for each in subject.stages}
    for given in examples or {}:
        if given not in names:
            raise UnknownNameError("stage in examples:", given, names)
    _validate(expected_failures or {}, {name, *names})
    bound = list(_bind(subject, "plugin", expected_failures or {}))
    for registered in subject.stages:
        # A stage whose packages are missing, or whose target is wrong, is reported by the plugin's checks.
        if not registered.available:
            continue
        try:
            target = registry.stage_target(registered.full_name)
        except PluginError:
            continue
        example = (examples or {}).get(registered.full_name)
        stage = StageSubject(
            target,
            registered=registered,
            example=example,
            registry=registry,
            example_required=examples_required,
        )
        bound += _bind(stage, "stage", expected_failures or {})
    return bound


def _checks_in(module: types.ModuleType, about: Literal["plugin", "stage"]) -> Iterator[Check]:
    for name, function in vars(module).items():
        if name.startswith("check_"):
            yield Check(name, function, about)


def _bind(
    subject: PluginSubject | StageSubject, about: Literal["plugin", "stage"], expected: ExpectedFailures
) -> Iterator[BoundCheck]:
    reasons = expected.get(subject.label, {})
    for check in all_checks():
        if check.about == about:
            yield BoundCheck(check, subject, reasons.get(check.name))


def _validate(expected: ExpectedFailures, subjects: set[str]) -> None:
    for subject, reasons in expected.items():
        if subject not in subjects:
            raise UnknownNameError("stage in expected_failures:", subject, subjects)
        for check, reason in reasons.items():
            if check not in {each.name for each in all_checks()}:
                raise UnknownNameError("check in expected_failures:", check, [each.name for each in all_checks()])
            if not reason.strip():
                raise ConfigError(f"the expected failure of {check} for {subject} has no reason", fix="say why")


def _registry_with(plugin: str | types.ModuleType) -> tuple[str, Registry]:
    if isinstance(plugin, str):
        return plugin, Registry.from_environment()
    registry = Registry.of_module(plugin)
    return next(each.name for each in registry.plugins if each.candidate.value == plugin.__name__), registry


def _raise_failures(results: list[CheckResult]) -> list[CheckResult]:
    failures = [each.detail for each in results if each.outcome == "failed"]
    if failures:
        raise AssertionError(f"{len(failures)} of {len(results)} checks failed:\n\n" + "\n\n".join(failures))
    return results
