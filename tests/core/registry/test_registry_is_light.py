"""Listing plugins and stages imports nothing heavy."""

import json
import subprocess
import sys

LISTING = """
import json, sys
from curator_core.registry import Registry
registry = Registry.from_environment()
names = [(each.full_name, each.available) for each in registry.stages.values()]
registry.executors, registry.workflows, registry.task_types, registry.commands, registry.warnings
heavy = {"ray", "torch", "transformers", "polars", "pyarrow", "pydantic", "numpy", "pandas", "yaml", "rich"}
print(json.dumps({"names": names, "heavy": sorted(heavy.intersection(sys.modules))}))
"""


def test_listing_imports_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", LISTING], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert ["table.select", True] in found["names"]
    assert found["heavy"] == []


def test_importing_the_registry_finds_no_plugins_yet():
    code = "import sys, curator_core.registry; print('curator_core.plugin' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
