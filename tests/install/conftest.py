"""Wheels of this checkout and a fresh virtual environment to install them in, made once for all tests here."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import pytest

from curator_core.registry import default_registry

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ("audio", "dedup", "devkit", "image", "table", "text", "video")
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
    """Build wheels with the build backend of the development environment; return their paths."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        command = (sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", destination)
        list(pool.map(lambda source: run(*command, cwd=source), sources))
    return sorted(destination.glob("*.whl"))


class Environment:
    """A virtual environment that takes our packages from this checkout's wheels and the rest from the registry."""

    def __init__(self, folder, wheels):
        self.folder = folder
        run(sys.executable, "-m", "venv", "--without-pip", folder)  # the one of this environment serves both
        # Direct references keep pip from preferring packages of the same names in a registry.
        self.ours = folder / "constraints.txt"
        self.ours.write_text(
            "".join(f"{name} @ {wheel.as_uri()}\n" for name, wheel in wheels.items()), encoding="utf-8"
        )

    def pip(self, *arguments):
        return run(sys.executable, "-m", "pip", f"--python={self.folder}", *arguments)

    def install(self, *requirements):
        try:
            self.pip("install", "--quiet", "--no-compile", f"--constraint={self.ours}", *requirements)
        except pytest.fail.Exception as error:
            pytest.fail(f"installing needs a package registry that pip can reach. {error}", pytrace=False)

    def uninstall(self, *names):
        self.pip("uninstall", "--quiet", "--yes", *names)

    def packages(self):
        """Return the names of what is installed."""
        (site,) = self.folder.glob("lib/python*/site-packages")
        return {each.metadata["Name"] for each in metadata.distributions(path=[str(site)])}

    @contextmanager
    def having(self, *requirements):
        """Install something for a while; its dependencies go with it, so that what comes next cannot live on them."""
        before = self.packages()
        self.install(*requirements)
        try:
            yield
        finally:
            self.uninstall(*self.packages() - before)

    def curator(self, *arguments, cwd=None):
        return run(self.folder / "bin" / "curator", *arguments, cwd=cwd)

    def python(self, *arguments):
        return run(self.folder / "bin" / "python", *arguments)

    def stages(self):
        """Return the names of the listed stages, by plugin."""
        by_plugin = {}
        for stage in json.loads(self.curator("stages", "list", "--json")):
            assert stage["available"] or stage["name"] in stages_of_extras(), stage
            by_plugin.setdefault(stage["plugin"], set()).add(stage["name"])
        return by_plugin


def stages_of_extras():
    """Return the stages that need more than their package's own dependencies: they need not be available."""
    return {name for name, each in default_registry().stages.items() if each.spec.extra}


@pytest.fixture(scope="session")
def build_wheels():
    return build


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """The wheels, by distribution name."""
    paths = build(tmp_path_factory.mktemp("wheels"), ROOT / "core", *(ROOT / "plugins" / name for name in PLUGINS))
    found = {path.name.split("-")[0].replace("_", "-"): path for path in paths}
    assert set(found) == {"curator-core", *(f"curator-{name}" for name in PLUGINS)}
    return found


@pytest.fixture(scope="session")
def core_environment(tmp_path_factory, wheels):
    """A fresh environment with core alone. Who installs more in it must remove it again."""
    environment = Environment(tmp_path_factory.mktemp("core-environment"), wheels)
    environment.install("curator-core")
    yield environment
    shutil.rmtree(environment.folder)


@pytest.fixture(scope="module")
def text_environment(core_environment):
    """The environment of a user who installed core and text, and nothing else."""
    with core_environment.having("curator-text"):
        yield core_environment
