"""`curator plugin new` writes a plugin that installs, passes its tests and works in a pipeline."""

import json
import os
import subprocess
import sys

import pytest

from curator_core.values.errors import ConfigError
from curator_devkit.scaffold import new_plugin


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A generated plugin, and the folder it was installed to."""
    base = tmp_path_factory.mktemp("scaffold")
    files = new_plugin("web_pages", base)
    site = base / "site"
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(base / "curator-web-pages")]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return files, site


def run(site, *command, cwd):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *filter(None, sys.path)])}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False, env=environment, cwd=cwd
    )


def test_the_expected_files_are_written(installed):
    files, _ = installed
    root = files[0].parent
    assert sorted(each.relative_to(root).as_posix() for each in files) == [
        "README.md",
        "pyproject.toml",
        "src/curator_web_pages/__init__.py",
        "src/curator_web_pages/plugin.py",
        "src/curator_web_pages/py.typed",
        "src/curator_web_pages/text_length.py",
        "tests/test_conformance.py",
    ]
    assert not any("$" in each.read_text(encoding="utf-8") for each in files)


def test_its_own_tests_pass_at_once(installed):
    files, site = installed
    done = run(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", cwd=files[0].parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    assert "failed" not in done.stdout


def test_it_is_found_with_its_distribution_and_its_stage_works(installed):
    files, site = installed
    code = """
import json
from curator_core import TableBatch, make_stage
from curator_core.registry import default_registry
info = next(each for each in default_registry().plugins if each.name == "web_pages")
stage = make_stage("web_pages.text_length", min_chars=3)
kept = stage.process(TableBatch(data={"text": ["hi", "hello"]})).data["text"].to_pylist()
print(json.dumps([info.status, info.distribution, info.version, info.warning, stage.name, kept]))
"""
    done = run(site, "-c", code, cwd=files[0].parent)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["ok", "curator-web-pages", "0.1.0", None, "web_pages.text_length", ["hello"]]


def test_what_is_generated_is_formatted_and_linted(installed):
    files, site = installed
    root = files[0].parent
    for command in (["format", "--check"], ["check"]):
        done = run(site, "-m", "ruff", *command, "--isolated", "--line-length=120", str(root), cwd=root)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("WebPages", "not snake_case"),
        ("web-pages", "not snake_case"),
        ("../evil", "not snake_case"),
        ("", "not snake_case"),
        ("class", "a word of Python"),
        ("core", "taken by curator-core"),
        ("text", "taken by curator-text"),
        ("image", "taken by curator-image"),
    ],
)
def test_names_that_cannot_be_used_are_refused(tmp_path, name, message):
    with pytest.raises(ConfigError, match=message):
        new_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_name_of_an_installed_plugin_is_refused(tmp_path, monkeypatch):
    from curator_core.registry import default_registry

    info = tmp_path / "acme_tools-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[curator.plugins]\nacme = acme_plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    default_registry.cache_clear()
    try:
        with pytest.raises(ConfigError, match=r"'acme' is taken by acme-tools 1\.0"):
            new_plugin("acme", tmp_path)
    finally:
        default_registry.cache_clear()


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "curator-acme").mkdir()
    with pytest.raises(ConfigError, match="exists already"):
        new_plugin("acme", tmp_path)
    assert list((tmp_path / "curator-acme").iterdir()) == []
