"""`curator plugin`, the command that the devkit adds."""

import json
from pathlib import Path

import pytest

from curator_core.cli import main


def test_the_command_is_listed_and_has_a_help_page(capsys):
    assert main(["--help"]) == 0
    assert "\n  plugin      Start a plugin of your own, or check one.\n" in capsys.readouterr().out
    assert main(["plugin", "--help"]) == 0
    assert "usage: curator plugin" in capsys.readouterr().out


def test_check_runs_the_conformance_kit(capsys):
    status = main(["plugin", "check", "dedup", "--json"])
    results = json.loads(capsys.readouterr().out)
    assert {each["outcome"] for each in results} == {"passed", "skipped"}
    assert any(each["subject"] == "dedup.content_hash" for each in results)
    assert status == 0


def test_check_prints_totals_and_fails_with_what_failed(capsys, tmp_path, monkeypatch):
    package = tmp_path / "curator_silent"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "plugin.py").write_text("CURATOR_API = (1, 0)\n")
    info = tmp_path / "curator_silent-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-silent\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[curator.plugins]\nsilent = curator_silent.plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["plugin", "check", "silent"]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("silent: ")
    assert "3 failed" in printed
    assert "check_plugin_offers_something [silent]: no hook is implemented\n      fix: implement" in printed


def test_check_of_a_plugin_that_is_not_installed_is_refused(capsys):
    assert main(["plugin", "check", "nothing_here"]) == 2
    assert "not installed" in capsys.readouterr().err


@pytest.mark.parametrize("as_json", [False, True])
def test_new_makes_files(capsys, tmp_path, as_json):
    assert main(["plugin", "new", "acme_words", "--dir", str(tmp_path / "made"), *(["--json"] if as_json else [])]) == 0
    printed = capsys.readouterr()
    files = json.loads(printed.out) if as_json else printed.out.splitlines()
    assert all(Path(each).exists() for each in files)
    assert any(each.endswith("pyproject.toml") for each in files)
    assert "next: install it" in printed.err


def test_new_refuses_bad_names(capsys, tmp_path):
    assert main(["plugin", "new", "Not-A-Name", "--dir", str(tmp_path / "made")]) == 2
    assert "not snake_case" in capsys.readouterr().err
