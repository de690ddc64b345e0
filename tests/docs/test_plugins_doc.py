"""docs/plugins.md is true: its package installs, its code runs, its commands work, its tables are complete."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from curator_core.registry.loading import HOOKS
from curator_core.registry.plugin_info import PluginStatus
from curator_devkit.testing import all_checks

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
BLOCK = re.compile(r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)


def blocks(language, *, titled):
    found = [each for each in BLOCK.finditer(PAGE.read_text(encoding="utf-8")) if each["language"] == language]
    return [each for each in found if (each["title"] is not None) == titled]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The plugin of the page, written from its blocks and installed."""
    base = tmp_path_factory.mktemp("page")
    for block in (*blocks("python", titled=True), *blocks("toml", titled=True)):
        file = base / block["title"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block["code"], encoding="utf-8")
    (base / "curator-acme/src/curator_acme/__init__.py").touch()
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        "--target",
        str(base / "site"),
        str(base / "curator-acme"),
    ]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return base / "site"


def run(site, *command, cwd):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *filter(None, sys.path)])}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, env=environment, cwd=cwd
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("code", [each["code"] for each in blocks("python", titled=False)])
def test_every_example_runs(site, tmp_path, code):
    run(site, "-W", "error", "-c", code, cwd=tmp_path)


def test_the_commands_work_and_know_the_plugin(site, tmp_path):
    lines = [line for block in blocks("console", titled=False) for line in block["code"].splitlines()]
    assert lines
    for line in lines:
        assert line.startswith("$ curator ")
        output = run(site, "-m", "curator_core", *line.removeprefix("$ curator ").split(), cwd=tmp_path)
        assert "acme" in output


def test_its_conformance_test_finds_only_what_the_page_leaves_out(site):
    root = site.parent / "curator-acme"
    deselect = "test_conformance[acme-check_plugin_ships_type_information]"
    output = run(
        site,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"--deselect=tests/test_conformance.py::{deselect}",
        cwd=root,
    )
    assert "1 deselected" in output


def test_the_filter_and_its_registration_fit_on_one_screen():
    code = [each["code"].count("\n") for each in blocks("python", titled=True) if "/src/" in each["title"]]
    assert sum(code) <= 45


def test_every_hook_status_and_check_is_documented():
    text = PAGE.read_text(encoding="utf-8")
    rows = {match[1].partition("(")[0] for match in re.finditer(r"^\| `([^`]+)`", text, re.MULTILINE)}
    documented = {*HOOKS, *get_args(PluginStatus), *(each.name for each in all_checks())}
    assert documented == rows
