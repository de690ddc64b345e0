"""curator-video: its names are lazy, and what it declares exists."""

import importlib
import subprocess
import sys

import curator_video
from curator_video import plugin

HEAVY = ("numpy", "polars", "pyarrow", "pydantic", "ray", "PIL", "av", "soundfile", "xxhash")


def test_importing_the_package_and_the_plugin_loads_nothing_heavy():
    code = f"import sys, curator_video, curator_video.plugin; print([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_every_public_name_loads():
    for name in curator_video.__all__:
        assert getattr(curator_video, name).__name__ == name
    assert set(curator_video.__all__) <= set(dir(curator_video))


def test_every_declared_stage_bears_its_registry_name():
    for spec in plugin.curator_stages():
        module, _, class_name = spec.target.partition(":")
        stage = getattr(importlib.import_module(module), class_name)
        assert stage.name == f"video.{spec.name}"
        assert getattr(curator_video, class_name) is stage
