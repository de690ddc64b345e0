"""The examples in the docstrings of this package, and of core's tar modules, run and show what they say."""

import doctest
import importlib
import pkgutil

import pytest

import curator_core.io
import curator_image

MODULES = sorted(
    f"{package.__name__}.{module.name}"
    for package, prefix in ((curator_image, ""), (curator_core.io, "tar_"))
    for module in pkgutil.iter_modules(package.__path__)
    if module.name.startswith(prefix)
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
