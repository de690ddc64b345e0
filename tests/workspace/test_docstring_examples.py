"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def modules_with_examples():
    for source in sorted([ROOT / "core" / "src", *ROOT.glob("plugins/*/src")]):
        for path in sorted(source.rglob("*.py")):
            if ">>> " in path.read_text(encoding="utf-8"):
                name = ".".join(path.relative_to(source).with_suffix("").parts)
                yield name.removesuffix(".__init__")


@pytest.mark.parametrize("name", list(modules_with_examples()))
def test_examples(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0
