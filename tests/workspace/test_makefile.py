"""The two commands stay incremental and explain themselves. Runs make in a skeleton of the repository."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTALL_INPUTS = [
    "constraints.txt",
    "requirements-dev.txt",
    "requirements-test.txt",
    "core/pyproject.toml",
    *(f"plugins/{name}/pyproject.toml" for name in ("audio", "dedup", "devkit", "image", "table", "text", "video")),
]


def make(folder, *arguments):
    environment = {
        name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
    }
    return subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def installed_skeleton(tmp_path):
    """A repository whose environment is newer than everything it was installed from."""
    for name in [*INSTALL_INPUTS, "Makefile", "scripts/check_python.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
        os.utime(tmp_path / name, (1_000, 1_000))
    stamp = tmp_path / ".venv" / ".installed"
    stamp.parent.mkdir()
    stamp.touch()
    os.utime(stamp, (2_000, 2_000))
    return tmp_path


def test_second_call_installs_nothing(installed_skeleton):
    assert make(installed_skeleton, "--question", "venv").returncode == 0


@pytest.mark.parametrize("changed", INSTALL_INPUTS)
def test_changed_requirements_install_again(installed_skeleton, changed):
    os.utime(installed_skeleton / changed, (3_000, 3_000))
    assert make(installed_skeleton, "--question", "venv").returncode == 1
    assert "pip install" in make(installed_skeleton, "--dry-run", "test").stdout


def test_python_too_old_is_refused_with_the_fix(installed_skeleton):
    shutil.rmtree(installed_skeleton / ".venv")
    old = installed_skeleton / "old-python"
    pretend = "import sys; sys.version_info = (3, 9, 18); exec(open(sys.argv[1]).read())"
    old.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{pretend}' \"$@\"\n")
    old.chmod(0o755)
    result = make(installed_skeleton, "venv", f"PYTHON={old}")
    assert result.returncode != 0
    assert "needs Python 3.10 or newer" in result.stderr
    assert "make venv PYTHON=" in result.stderr
    assert not (installed_skeleton / ".venv").exists()


def test_help_is_the_default_and_names_every_command():
    text = make(ROOT).stdout
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert {line.split()[1] for line in text.splitlines()} == set(phony[1].split())
