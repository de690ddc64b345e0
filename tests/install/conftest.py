"""Wheels of this checkout and fresh virtual environments to install them in, made once for all tests of this folder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ("audio", "dedup", "image", "text", "video")
# A search path or plugin list of whoever runs the tests must not reach into the fresh environments.
CLEAN_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CURATOR_", "VIRTUAL_ENV"))
}


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.fspath).is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.install)
            item.add_marker(pytest.mark.timeout(600))


def run(*command, cwd=None):
    """Run a command and return its standard output; a failure shows everything it said."""
    result = subprocess.run(
        [str(each) for each in command], cwd=cwd, env=CLEAN_ENVIRONMENT, capture_output=True, text=True, check=False
    )
    if result.returncode:
        said = f"{result.stdout}\n{result.stderr}".strip()
        pytest.fail(f"{' '.join(map(str, command))} failed with exit code {result.returncode}:\n{said}", pytrace=False)
    return result.stdout


def build(destination, *sources):
    """Build wheels with the build tools of the development environment; return their paths."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-cache-dir", f"--wheel-dir={destination}"]
    run(sys.executable, "-m", "pip", "wheel", *options, *sources)
    return sorted(destination.glob("*.whl"))


class Environment:
    """A virtual environment that takes our packages from this checkout's wheels and the rest from the registry."""

    def __init__(self, folder, wheels):
        self.folder = folder
        run(sys.executable, "-m", "venv", folder)
        # Direct references keep pip from preferring packages of the same names in a registry.
        self.ours = folder / "constraints.txt"
        self.ours.write_text(
            "".join(f"{name} @ {wheel.as_uri()}\n" for name, wheel in wheels.items()), encoding="utf-8"
        )

    def pip(self, *arguments):
        return run(self.folder / "bin" / "python", "-m", "pip", *arguments)

    def install(self, *requirements):
        try:
            self.pip("install", "--quiet", f"--constraint={self.ours}", *requirements)
        except pytest.fail.Exception as error:
            pytest.fail(f"installing needs a package registry that pip can reach. {error}", pytrace=False)

    def uninstall(self, *names):
        self.pip("uninstall", "--quiet", "--yes", *names)

    def packages(self):
        return {entry["name"] for entry in json.loads(self.pip("list", "--format=json"))}

    def curator(self, *arguments, cwd=None):
        return run(self.folder / "bin" / "curator", *arguments, cwd=cwd)

    def stages(self):
        """Return the names of the listed stages, by plugin."""
        by_plugin = {}
        for stage in json.loads(self.curator("stages", "list", "--json")):
            assert stage["available"], stage
            by_plugin.setdefault(stage["plugin"], set()).add(stage["name"])
        return by_plugin


@pytest.fixture(scope="session")
def build_wheels():
    return build


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """The six wheels, by distribution name."""
    paths = build(tmp_path_factory.mktemp("wheels"), ROOT / "core", *(ROOT / "plugins" / name for name in PLUGINS))
    found = {path.name.split("-")[0].replace("_", "-"): path for path in paths}
    assert set(found) == {"curator-core", *(f"curator-{name}" for name in PLUGINS)}
    return found


@pytest.fixture(scope="session")
def text_environment(tmp_path_factory, wheels):
    """A fresh environment in which a user installed core and text, and nothing else."""
    environment = Environment(tmp_path_factory.mktemp("text-environment"), wheels)
    environment.install("curator-core", "curator-text")
    yield environment
    shutil.rmtree(environment.folder)


@pytest.fixture(scope="session")
def core_environment(tmp_path_factory, wheels):
    """A fresh environment with core alone. Who installs more in it must remove it again."""
    environment = Environment(tmp_path_factory.mktemp("core-environment"), wheels)
    environment.install("--no-compile", "curator-core")
    yield environment
    shutil.rmtree(environment.folder)
