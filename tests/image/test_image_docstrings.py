"""The examples in the docstrings of this package run and show what they say."""

import doctest
import importlib
import pkgutil

import pytest

import curator_image

MODULES = sorted(f"curator_image.{module.name}" for module in pkgutil.iter_modules(curator_image.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
