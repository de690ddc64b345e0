"""Plugins that an administrator shuts out are never imported, whatever the command."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import curator_core

EVIL = """
    import pathlib
    pathlib.Path({mark!r}).touch()
    CURATOR_API = (1, 0)
"""


@pytest.fixture
def curator(tmp_path):
    """Run the command in a process that has a plugin installed which leaves a mark when it is imported."""
    package = tmp_path / "site" / "curator_evil"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "plugin.py").write_text(textwrap.dedent(EVIL).format(mark=str(tmp_path / "mark")))
    info = tmp_path / "site" / "curator_evil-6.6.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-evil\nVersion: 6.6\n")
    (info / "entry_points.txt").write_text("[curator.plugins]\nevil = curator_evil.plugin\n")
    (tmp_path / "p.yaml").write_text("version: 1\nstages:\n  - evil.stage\n")
    path = [str(tmp_path / "site"), str(Path(curator_core.__file__).parent.parent)]

    def call(*arguments, **variables):
        done = subprocess.run(
            [sys.executable, "-m", "curator_core", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path), **variables},
        )
        return done, (tmp_path / "mark").exists()

    return call


@pytest.mark.parametrize(
    "variables", [{"CURATOR_PLUGINS": "text"}, {"CURATOR_DISABLE_PLUGINS": "evil"}], ids=["allow list", "block list"]
)
def test_a_plugin_that_is_shut_out_is_shown_and_not_imported(curator, variables):
    done, was_imported = curator("plugins", "--json", **variables)
    (evil,) = [plugin for plugin in json.loads(done.stdout) if plugin["name"] == "evil"]
    assert (evil["status"], evil["distribution"], evil["version"]) == ("blocked", "curator-evil", "6.6")
    assert not was_imported
    done, was_imported = curator("validate", "p.yaml", **variables)
    assert (done.returncode, was_imported) == (2, False)
    assert "evil" in done.stderr
    assert next(iter(variables)) in done.stderr


def test_without_the_lists_it_would_be_imported(curator):
    _, was_imported = curator("plugins")
    assert was_imported
