"""Every plugin package: its names are lazy, and what it declares exists under the name it declares."""

import importlib
import inspect
import subprocess
import sys

import pytest

HEAVY = ("numpy", "polars", "pyarrow", "pydantic", "ray", "PIL", "av", "soundfile", "xxhash", "pytest")

WITH_STAGES = ["audio", "dedup", "image", "table", "text", "video"]
each_plugin = pytest.mark.parametrize("plugin", WITH_STAGES)


@pytest.mark.parametrize("plugin", [*WITH_STAGES, "devkit"])
def test_importing_the_package_and_the_plugin_loads_nothing_heavy(plugin):
    package = f"curator_{plugin}"
    code = f"import sys, {package}, {package}.plugin; print([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@each_plugin
def test_every_public_name_loads(plugin):
    package = importlib.import_module(f"curator_{plugin}")
    for name in package.__all__:
        value = getattr(package, name)
        if inspect.isclass(value) or inspect.isfunction(value):  # constants and type aliases have no name of their own
            assert value.__name__ == name
    assert set(package.__all__) <= set(dir(package))


@each_plugin
def test_every_declared_stage_bears_its_registry_name(plugin):
    package = importlib.import_module(f"curator_{plugin}")
    for spec in importlib.import_module(f"curator_{plugin}.plugin").curator_stages():
        if spec.alias_of is not None:
            continue
        module, _, class_name = spec.target.partition(":")
        stage = getattr(importlib.import_module(module), class_name)
        assert stage.name == f"{plugin}.{spec.name}"
        assert getattr(package, class_name) is stage
