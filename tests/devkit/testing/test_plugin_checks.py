"""The kit's checks on whole plugins: what each catches, expected failures, and the pytest decorator."""

import subprocess
import sys
import textwrap

import pytest

from curator_core.registry import Candidate, Registry
from curator_core.values.errors import ConfigError, PluginError, UnknownNameError
from curator_devkit.testing import Example, all_checks, bound_checks, check_plugin, check_stage
from curator_devkit.testing.check import CheckSkipped, run_check
from curator_devkit.testing.subjects import PluginSubject

STAGE_MODULE = '''
from dataclasses import dataclass
from curator_core import Filter, Verdict
{extra_import}

@dataclass
class MinChars(Filter):
    """Drop short texts."""

    min_chars: int = 3
    text_column: str = "text"
    name = "{stage_name}"

    def judge(self, batch):
        length = batch.text(self.text_column).str.len_chars()
        return Verdict(length, {{"too_short": length < self.min_chars}})
'''
PLUGIN_MODULE = """
from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec
{extra_import}

CURATOR_API = (1, 0)

@hookimpl
def curator_stages():
    return [StageSpec("min_chars", target="{target}", summary="{summary}", kind="filter"{more})]
"""


class ToyPlugin:
    """A package with a plugin, installed as a dist-info folder; keyword arguments spoil one thing each."""

    def __init__(self, folder):
        self.folder = folder

    def install(
        self,
        *,
        name="toykit",
        distribution=None,
        requires="curator-core ~= 0.1",
        typed=True,
        summary="Drop short texts.",
        more="",
        stage_name=None,
        target=None,
        plugin_import="",
        stage_import="",
        metadata="",
        plugin_code=None,
    ):
        package = self.folder / f"curator_{name}"
        package.mkdir()
        (package / "__init__.py").touch()
        if typed:
            (package / "py.typed").touch()
        code = plugin_code or PLUGIN_MODULE.format(
            target=target or f"curator_{name}.stages:MinChars", summary=summary, more=more, extra_import=plugin_import
        )
        (package / "plugin.py").write_text(code)
        stages = STAGE_MODULE.format(stage_name=stage_name or f"{name}.min_chars", extra_import=stage_import)
        (package / "stages.py").write_text(stages)
        distribution = distribution or f"curator-{name}"
        info = self.folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir()
        head = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
        (info / "METADATA").write_text(head + (f"Requires-Dist: {requires}\n" if requires else "") + metadata)
        (info / "entry_points.txt").write_text(f"[curator.plugins]\n{name} = curator_{name}.plugin\n")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    from curator_core.registry import default_registry
    from curator_devkit.testing.fresh_import import import_each

    monkeypatch.syspath_prepend(str(tmp_path))
    default_registry.cache_clear()
    import_each.cache_clear()
    yield ToyPlugin(tmp_path)
    default_registry.cache_clear()
    import_each.cache_clear()
    for name in [each for each in sys.modules if each.startswith("curator_toykit") or each == "vllm"]:
        del sys.modules[name]


def test_a_good_plugin_passes_and_most_checks_apply(toy):
    toy.install()
    results = check_plugin("toykit")
    outcomes = [each.outcome for each in results]
    assert len(results) == len(all_checks())
    assert set(outcomes) == {"passed", "skipped"}
    assert outcomes.count("skipped") == 2, [each for each in results if each.outcome == "skipped"]


SPOILT = {
    "check_plugin_loads": {"plugin_code": "CURATOR_API = (1, 0)\nraise RuntimeError('no driver')\n"},
    "check_plugin_declares_api": {"plugin_code": "x = 1\n"},
    "check_plugin_imports_only_light_modules": {"plugin_import": "import vllm"},
    "check_plugin_hooks_are_repeatable": {
        "plugin_import": "import itertools\n_count = itertools.count()",
        "more": ", produces=('x',) * next(_count)",
    },
    "check_plugin_offers_something": {"plugin_code": "CURATOR_API = (1, 0)\n"},
    "check_plugin_targets_exist": {"target": "curator_toykit.stages:Nothing"},
    "check_plugin_summaries_present": {"summary": ""},
    "check_plugin_requires_match_extra": {"more": ", requires=('no_such_pkg',), extra='models'"},
    "check_plugin_distribution_named": {"distribution": "toykit-for-curator"},
    "check_plugin_depends_on_core": {"requires": None},
    "check_plugin_ships_type_information": {"typed": False},
    "check_default_name_matches_registry": {"stage_name": "other"},
    "check_produces_matches_outputs": {"more": ", produces=('length',)"},
    "check_heavy_imports_declared": {"stage_import": "import vllm"},
}


@pytest.mark.parametrize(("check", "spoilt"), SPOILT.items(), ids=SPOILT)
def test_a_violation_of_a_plugin_is_caught_by_its_check(toy, check, spoilt):
    (toy.folder / "vllm.py").touch()  # a stand-in for a heavy package
    toy.install(**spoilt)
    with pytest.raises(AssertionError, match=rf"{check} \[toykit(\.min_chars)?\]"):
        check_plugin("toykit")


def test_every_check_for_plugins_is_shown_to_fail_here():
    assert {each.name for each in all_checks() if each.about == "plugin"} <= set(SPOILT)


def test_a_plugin_can_be_checked_as_a_module_that_is_not_installed(toy):
    import importlib

    toy.install()
    for file in toy.folder.glob("*.dist-info/*"):
        file.unlink()
    module = importlib.import_module("curator_toykit.plugin")
    outcomes = {each.check: each for each in check_plugin(module)}
    assert outcomes["check_plugin_loads"].outcome == "passed"
    assert outcomes["check_plugin_distribution_named"].detail == "is not installed as a distribution"


def test_a_plugin_that_is_not_there_is_an_error():
    with pytest.raises(PluginError, match="'no_such_plugin' is not installed"):
        check_plugin("no_such_plugin")


def test_checks_on_a_broken_plugin_that_need_it_loaded_are_skipped():
    registry = Registry(candidates=[Candidate("gone", "no_such_module_at_all")])
    subject = PluginSubject(registry.plugins[1], registry)
    check = next(each for each in all_checks() if each.name == "check_plugin_targets_exist")
    with pytest.raises(CheckSkipped, match="the plugin is broken"):
        run_check(check, subject)


def test_an_expected_failure_is_reported_with_its_reason(toy):
    toy.install(typed=False)
    reason = "the marker comes with the next release"
    results = check_plugin("toykit", expected_failures={"toykit": {"check_plugin_ships_type_information": reason}})
    (expected,) = [each for each in results if each.outcome == "expected failure"]
    assert expected.detail == reason


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"toykit": {"check_plugin_loads": "it does not"}}, r"is expected to fail \(it does not\), but passes"),
        ({"toykit.min_chars": {"check_composite_decomposes": "why"}}, "is expected to fail, but does not apply"),
    ],
)
def test_an_expected_failure_that_does_not_fail_is_a_failure(toy, expected, message):
    toy.install()
    with pytest.raises(AssertionError, match=message):
        check_plugin("toykit", expected_failures=expected)


def test_expectations_and_examples_must_name_what_exists(toy):
    toy.install()
    with pytest.raises(UnknownNameError, match=r"toykit\.min_char'; did you mean 'toykit\.min_chars'"):
        bound_checks("toykit", examples={"toykit.min_char": Example()})
    with pytest.raises(UnknownNameError, match="did you mean 'check_plugin_loads'"):
        bound_checks("toykit", expected_failures={"toykit": {"check_plugin_load": "x"}})
    with pytest.raises(UnknownNameError):
        bound_checks("toykit", expected_failures={"other": {"check_plugin_loads": "x"}})
    with pytest.raises(ConfigError, match="has no reason"):
        bound_checks("toykit", expected_failures={"toykit": {"check_plugin_loads": " "}})


def test_expected_failures_of_a_single_stage_are_strict_too(toy):
    toy.install()
    from curator_toykit.stages import MinChars

    with pytest.raises(AssertionError, match="but passes"):
        check_stage(MinChars, expected_failures={"check_picklable": "it holds a lock"})
    with pytest.raises(ConfigError, match="has no reason"):
        check_stage(MinChars, expected_failures={"check_picklable": ""})


def test_the_decorator_makes_one_test_of_every_check(toy, tmp_path):
    toy.install(typed=False)
    test_file = tmp_path / "test_toykit.py"
    test_file.write_text(
        textwrap.dedent(
            """
            from curator_devkit.testing import parametrize_with_checks

            EXPECTED = {
                "toykit": {"check_plugin_ships_type_information": "later"},
                "toykit.min_chars": {"check_picklable": "wrongly expected"},
            }

            @parametrize_with_checks("toykit", expected_failures=EXPECTED)
            def test_conformance(check):
                check()
            """
        )
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-v",
        "--rootdir",
        str(tmp_path),
        str(test_file),
    ]
    path = ":".join(each for each in sys.path if each)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": path}, cwd=tmp_path)

    assert "test_conformance[toykit-check_plugin_loads] PASSED" in done.stdout
    assert "test_conformance[toykit.min_chars-check_batch_equals_singles] PASSED" in done.stdout
    assert "test_conformance[toykit-check_plugin_ships_type_information] XFAIL" in done.stdout
    assert "test_conformance[toykit.min_chars-check_picklable] FAILED" in done.stdout
    assert f"1 failed, {len(all_checks()) - 4} passed, 2 skipped, 1 xfailed" in done.stdout
