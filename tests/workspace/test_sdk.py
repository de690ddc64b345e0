"""The names that plugins may use: those of four modules and of plugins they declare, which our own plugins keep to."""

import ast
import importlib
import importlib.util
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


def imported_of_ours(plugin):
    """Return the modules that the files of a plugin import from our other packages, wherever, with the file's path."""
    ours = {"curator_core", *(f"curator_{each}" for each in PLUGINS)} - {f"curator_{plugin}"}
    found = set()
    for path in (ROOT / "plugins" / plugin / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            found |= {(str(path.relative_to(ROOT)), each) for each in names if each.partition(".")[0] in ours}
    return found


@pytest.mark.parametrize("plugin", PLUGINS)
def test_our_plugins_use_nothing_but_the_public_surface(plugin):
    text = (ROOT / "plugins" / plugin / "pyproject.toml").read_text()
    dependencies = re.search(r"^dependencies = \[(.*?)^\]", text, flags=re.MULTILINE | re.DOTALL)[1]
    declared = {f"curator_{each}" for each in re.findall(r'"curator-(\w+)~=', dependencies)}
    may_use = PUBLIC | (declared - {"curator_core"})
    assert sorted((path, each) for path, each in imported_of_ours(plugin) if each not in may_use) == []


@pytest.mark.parametrize("plugin", PLUGINS)
def test_what_plugins_use_of_each_other_is_public(plugin):
    """A module of the same name would hide what ``from package import name`` gives, once something imports it."""
    public = getattr(importlib.import_module(f"curator_{plugin}"), "__all__", ())
    assert [each for each in public if importlib.util.find_spec(f"curator_{plugin}.{each}") is not None] == []


@pytest.mark.parametrize("plugin", PLUGINS)
def test_our_plugins_import_only_public_names_of_each_other(plugin):
    for path in (ROOT / "plugins" / plugin / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in {f"curator_{each}" for each in PLUGINS} - {
                f"curator_{plugin}"
            }:
                public = importlib.import_module(node.module).__all__
                assert [each.name for each in node.names if each.name not in public] == [], path


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
    assert ast.literal_eval(done.stdout) == [
        "curator_core.values",
        "curator_core.values.lazy_names",
        "curator_core",
        "curator_core.sdk",
    ]
    with pytest.raises(AttributeError, match=r"module 'curator_core\.sdk' has no attribute 'secrets'"):
        _ = sdk.secrets
