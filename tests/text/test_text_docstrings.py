"""The examples in the docstrings of this package run and show what they say."""

import doctest
import importlib
import pkgutil

import pytest

import curator_text.mixing
import curator_text.modifiers
import curator_text.privacy

MODULES = sorted(
    f"{package.__name__}.{module.name}"
    for package in (curator_text.mixing, curator_text.modifiers, curator_text.privacy)
    for module in pkgutil.iter_modules(package.__path__)
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
