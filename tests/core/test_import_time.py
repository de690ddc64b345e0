"""Heavy packages are loaded when they are used, never by importing curator_core or by listing what is installed."""

import subprocess
import sys

import pytest

HEAVY = {
    "av",
    "numba",
    "numpy",
    "pandas",
    "PIL",
    "polars",
    "pyarrow",
    "pydantic",
    "ray",
    "rich",
    "torch",
    "transformers",
}


def modules_loaded_by(*arguments):
    """Run Python and return the top-level names of all modules it imported."""
    result = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    lines = [line for line in result.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_a_heavy_import_would_be_seen():
    assert "pyarrow" in modules_loaded_by("-c", "import pyarrow")


def test_importing_the_package_loads_nothing_heavy():
    loaded = modules_loaded_by("-c", "import curator_core; dir(curator_core)")
    assert "curator_core" in loaded
    assert loaded & HEAVY == set()


@pytest.mark.parametrize(
    "module", ["authoring.stage", "hookspecs", "registry", "specs", "values.errors", "values.resources"]
)
def test_light_modules_stay_light(module):
    assert modules_loaded_by("-c", f"import curator_core.{module}") & HEAVY == set()


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["--version"],
        ["run", "--help"],
        ["stages", "list"],
        ["stages", "list", "--json"],
        ["plugins"],
        ["plugins", "--json"],
    ],
    ids=" ".join,
)
def test_commands_that_list_or_explain_load_nothing_heavy(command):
    loaded = modules_loaded_by("-m", "curator_core", *command)
    assert "curator_core" in loaded
    assert loaded & HEAVY == set()
