"""Choosing the interpreters for ``make test-versions``."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "interpreters.py"


@pytest.fixture(scope="module")
def interpreters():
    spec = importlib.util.spec_from_file_location("interpreters", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("found", "tested", "chosen"),
    [
        ([(3, 10), (3, 11), (3, 13)], (3, 11), [(3, 10), (3, 13)]),
        ([(3, 10), (3, 11), (3, 12)], (3, 10), [(3, 12)]),
        ([(3, 12)], (3, 11), [(3, 12)]),
        ([(3, 11)], (3, 11), []),
        ([], (3, 11), []),
    ],
)
def test_oldest_and_newest_without_the_one_tested_anyway(interpreters, found, tested, chosen):
    pythons = {version: Path("python") for version in found}
    assert list(interpreters.outermost(pythons, tested=tested)) == chosen


def test_a_working_interpreter_tells_its_version(interpreters):
    assert interpreters.version_of(Path(sys.executable)) == sys.version_info[:2]


def test_a_shim_that_does_not_start_is_not_an_interpreter(interpreters, tmp_path):
    shim = tmp_path / "python3.10"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    assert interpreters.version_of(shim) is None
    assert interpreters.version_of(tmp_path / "absent") is None


def test_installed_interpreters_are_found_below_pyenv(interpreters, tmp_path, monkeypatch):
    python = tmp_path / "versions" / "any" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    assert interpreters.installed() == {sys.version_info[:2]: python}
