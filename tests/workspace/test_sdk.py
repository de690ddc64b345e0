"""The names that plugins may use: those of four modules of core, which our own plugins keep to, and of each other."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import curator_core
from curator_core import sdk

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = {"curator_core", "curator_core.sdk", "curator_core.specs", "curator_core.hookspecs"}
PLUGINS = sorted(path.name for path in (ROOT / "plugins").iterdir() if (path / "src").is_dir())


def imported_from_core(source):
    """Yield the modules of core that a file imports from, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
        yield from (name for name in names if name.partition(".")[0] == "curator_core")


@pytest.mark.parametrize("plugin", PLUGINS)
def test_our_plugins_use_nothing_but_the_public_surface(plugin):
    sources = (ROOT / "plugins" / plugin / "src").rglob("*.py")
    found = {(str(path.relative_to(ROOT)), each) for path in sources for each in imported_from_core(path.read_text())}
    assert sorted((path, each) for path, each in found if each not in PUBLIC) == []


@pytest.mark.parametrize("plugin", PLUGINS)
def test_our_plugins_import_others_by_their_public_names_and_as_declared(plugin):
    declared = (ROOT / "plugins" / plugin / "pyproject.toml").read_text(encoding="utf-8")
    for path in (ROOT / "plugins" / plugin / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                package = name.partition(".")[0]
                if package.startswith("curator_") and package not in {"curator_core", f"curator_{plugin}"}:
                    assert name == package, f"{path} imports {name}"
                    assert {each.name for each in node.names} <= set(importlib.import_module(package).__all__), path
                    assert f'"{package.replace("_", "-")}~=' in declared, f"{path} imports {package}"


@pytest.mark.parametrize("module", [curator_core, sdk], ids=lambda module: module.__name__)
def test_every_public_name_is_there(module):
    assert sorted(module.__all__) == sorted({name for names in module._HOMES.values() for name in names})
    assert set(module.__all__) <= set(dir(module))
    for home, names in module._HOMES.items():
        defined = vars(importlib.import_module(f"curator_core.{home}"))
        assert {name: getattr(module, name) for name in names} == {name: defined[name] for name in names}


def test_type_checkers_see_the_names_of_the_sdk():
    stub = (ROOT / "core/src/curator_core/sdk.pyi").read_text(encoding="utf-8")
    assert sorted(re.findall(r" import (\w+) as \1$", stub, re.MULTILINE)) == sorted(sdk.__all__)


def test_the_sdk_loads_nothing_until_a_name_is_used():
    program = "import sys, curator_core.sdk; print([name for name in sys.modules if name.startswith('curator_core')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ast.literal_eval(done.stdout) == ["curator_core.lazy_names", "curator_core", "curator_core.sdk"]
    with pytest.raises(AttributeError, match=r"module 'curator_core\.sdk' has no attribute 'secrets'"):
        _ = sdk.secrets
