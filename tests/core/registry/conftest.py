"""Toy plugins, installed the way pip does it: a module and a dist-info folder on the path."""

import sys
import textwrap
from pathlib import Path

import pytest

HEADER = """
from curator_core.hookspecs import hookimpl
from curator_core.specs import CommandSpec, ExecutorSpec, StageSpec, TaskTypeSpec, WorkflowSpec

CURATOR_API = (1, 0)
"""


class ToySite:
    """A folder on sys.path into which tests install distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write_module(self, name: str, code: str) -> None:
        (self.folder / f"{name}.py").write_text(textwrap.dedent(code), encoding="utf-8")

    def write_metadata(
        self, distribution: str, *, entry_points: str, version: str = "1.2.3", metadata: str = ""
    ) -> Path:
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        head = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n{metadata}"
        (info / "METADATA").write_text(head, encoding="utf-8")
        (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
        return info

    def install(
        self,
        name: str,
        body: str = "",
        *,
        distribution: str | None = None,
        module: str | None = None,
        header: str = HEADER,
        metadata: str = "",
    ) -> str:
        """Install a plugin with the given body of its module; returns the module's name."""
        distribution = distribution or f"curator-{name}"
        module = module or f"toy_{distribution.replace('-', '_')}_plugin"
        self.write_module(module, header + textwrap.dedent(body))
        self.write_metadata(distribution, entry_points=f"[curator.plugins]\n{name} = {module}\n", metadata=metadata)
        return module


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield ToySite(folder)
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None) or ""
        if origin.startswith(str(folder)):
            del sys.modules[name]
