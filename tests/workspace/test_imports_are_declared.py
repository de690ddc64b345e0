"""Every package that our code imports is a declared dependency, so that it works outside this environment too."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "core", *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]
DISTRIBUTION_OF = {
    "PIL": "pillow",
    "backports": "backports.zstd",
    "fasttext": "fasttext-predict",
    "pydantic_core": "pydantic",
    "yaml": "pyyaml",
}
# Part of the standard library since Python 3.14, imported only there.
STANDARD_LATER = {"compression"}


class RuntimeImports(ast.NodeVisitor):
    """Collects top-level names of imported modules, anywhere but under ``if TYPE_CHECKING``."""

    def __init__(self):
        self.names = set()

    def visit_If(self, node):
        if ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.orelse:
                self.visit(statement)
        else:
            self.generic_visit(node)

    def visit_Import(self, node):
        self.names |= {alias.name.partition(".")[0] for alias in node.names}

    def visit_ImportFrom(self, node):
        self.names.add(node.module.partition(".")[0])


def imported_distributions(folder):
    found = RuntimeImports()
    for path in folder.glob("src/**/*.py"):
        found.visit(ast.parse(path.read_text(encoding="utf-8")))
    foreign = found.names - sys.stdlib_module_names - STANDARD_LATER
    return {DISTRIBUTION_OF.get(name, name).replace("_", "-") for name in foreign}


def declared_distributions(folder):
    """Return what a package requires, itself included, with what core requires for it."""
    text = (folder / "pyproject.toml").read_text() + (ROOT / "core" / "pyproject.toml").read_text()
    requirements = re.findall(r'^ +"([\w.-]+)(?:\[[\w,-]+\])?[>~]=', text, flags=re.MULTILINE)
    own = re.findall(r'^name = "(.*)"$', text, flags=re.MULTILINE)
    return {name.lower() for name in [*requirements, *own]}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_import_is_declared(folder):
    imported = imported_distributions(folder)
    assert "curator-core" in imported
    assert imported - declared_distributions(folder) == set()
