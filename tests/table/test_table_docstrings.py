"""The examples in the docstrings of this package run and show what they say."""

import doctest
import importlib
import pkgutil

import pytest

import curator_table

MODULES = sorted(module.name for module in pkgutil.walk_packages(curator_table.__path__, "curator_table."))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
