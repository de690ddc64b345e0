"""What is inside the wheels."""

import email
import re
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = [f"curator-{name}" for name in ("audio", "core", "dedup", "devkit", "image", "table", "text", "video")]


@pytest.fixture(params=DISTRIBUTIONS)
def distribution(request):
    return request.param


@pytest.fixture
def wheel(wheels, distribution):
    with zipfile.ZipFile(wheels[distribution]) as archive:
        yield archive


def metadata_of(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(wheel.read(name))


def test_wheel_holds_one_typed_package_and_its_metadata(wheel, distribution):
    package = distribution.replace("-", "_")
    names = set(wheel.namelist())
    assert f"{package}/py.typed" in names
    assert {name.partition("/")[0] for name in names} == {
        package,
        f"{package}-{metadata_of(wheel)['Version']}.dist-info",
    }


def test_wheel_holds_every_file_of_the_package(wheel, distribution):
    package = distribution.replace("-", "_")
    folder = ROOT / ("core" if distribution == "curator-core" else f"plugins/{distribution.removeprefix('curator-')}")
    source = folder / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected <= set(wheel.namelist())


def test_wheel_carries_the_licence(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith("/LICENSE") and ".dist-info/" in name]
    assert wheel.read(name) == (ROOT / "LICENSE").read_bytes()
    metadata = metadata_of(wheel)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata["License-File"] == "LICENSE"


def test_metadata_of_the_wheel(wheel, distribution):
    metadata = metadata_of(wheel)
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata.get_payload().startswith(f"# {distribution}\n")
    if distribution != "curator-core":
        series = metadata["Version"].rpartition(".")[0]
        assert f"curator-core~={series}" in metadata.get_all("Requires-Dist")


def test_core_requires_no_plugin_and_no_torch(wheels):
    with zipfile.ZipFile(wheels["curator-core"]) as wheel:
        needed = [each for each in metadata_of(wheel).get_all("Requires-Dist") if "extra ==" not in each]
    required = {re.split(r"[^\w.-]", each)[0] for each in needed}
    assert not {name for name in required if name.startswith(("curator-", "torch"))}
