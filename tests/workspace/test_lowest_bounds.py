"""The lowest versions that ``make test-lowest`` installs are the declared bounds."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def lowest_bounds(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return runpy.run_path(str(ROOT / "scripts" / "try_lowest.py"))["lowest_bounds"]


def test_every_foreign_dependency_of_core_is_bounded(lowest_bounds):
    bounds = lowest_bounds((ROOT / "core" / "pyproject.toml").read_text())
    assert {"pluggy", "polars", "pyarrow", "pydantic"} <= {bound.partition("==")[0] for bound in bounds}


def test_extras_are_dropped_and_own_packages_left_out(lowest_bounds):
    text = 'dependencies = [\n    "curator-core~=0.1",\n    "ray[data]>=2.40",\n]\n'
    assert lowest_bounds(text) == ["ray==2.40"]
