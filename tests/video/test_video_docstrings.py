"""The examples in the docstrings of this package run and show what they say; every public class has one."""

import doctest
import importlib
import pkgutil

import pytest

import curator_video

MODULES = sorted(f"curator_video.{module.name}" for module in pkgutil.iter_modules(curator_video.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_class_has_an_example():
    for name in curator_video.__all__:
        assert ">>> " in (getattr(curator_video, name).__doc__ or ""), name
