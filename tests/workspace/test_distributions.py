"""The distributions agree with each other: one version, one licence, the same rules for their metadata."""

import ast
import re
import sys
from importlib import metadata
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "curator-core": ROOT / "core",
    **{
        f"curator-{name}": ROOT / "plugins" / name
        for name in ("audio", "dedup", "devkit", "image", "table", "text", "video")
    },
}
each_distribution = pytest.mark.parametrize("distribution", FOLDERS)


def project(distribution):
    return tomllib.loads((FOLDERS[distribution] / "pyproject.toml").read_text())["project"]


def package_folder(distribution):
    return FOLDERS[distribution] / "src" / distribution.replace("-", "_")


def declared_version(distribution):
    tree = ast.parse((package_folder(distribution) / "__init__.py").read_text())
    (version,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__version__"]
    ]
    return version


def test_every_folder_with_a_pyproject_is_a_known_distribution():
    found = {path.parent for path in [*ROOT.glob("core/pyproject.toml"), *ROOT.glob("plugins/*/pyproject.toml")]}
    assert found == set(FOLDERS.values())


def test_all_distributions_have_one_version():
    versions = {distribution: declared_version(distribution) for distribution in FOLDERS}
    assert len(set(versions.values())) == 1, versions


@each_distribution
def test_installed_version_is_the_declared_one(distribution):
    assert metadata.version(distribution) == declared_version(distribution), "run `make venv` again"


@each_distribution
def test_package_is_typed(distribution):
    assert (package_folder(distribution) / "py.typed").is_file()


@each_distribution
def test_licence_is_a_copy_of_the_one_at_the_root(distribution):
    assert (FOLDERS[distribution] / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@each_distribution
def test_metadata_is_complete(distribution):
    declared = project(distribution)
    assert declared["name"] == distribution
    assert declared["license"] == "Apache-2.0"
    assert declared["license-files"] == ["LICENSE"]
    assert declared["requires-python"] == ">=3.10"
    assert declared["description"].endswith(".")
    assert "Typing :: Typed" in declared["classifiers"]
    readme = (FOLDERS[distribution] / declared["readme"]).read_text()
    assert readme.startswith(f"# {distribution}\n")
    assert f"pip install {distribution}" in readme


@each_distribution
def test_dependencies_have_lower_bounds_and_only_our_own_have_upper_ones(distribution):
    declared = project(distribution)
    optional = [each for group in declared.get("optional-dependencies", {}).values() for each in group]
    series = declared_version(distribution).rpartition(".")[0]
    for requirement in [*declared["dependencies"], *optional]:
        specifier = requirement.partition(";")[0].strip()
        if specifier.startswith("curator-"):
            assert re.fullmatch(rf"curator-[a-z]+(\[[a-z,]+\])?~={re.escape(series)}", specifier), requirement
        else:
            assert re.fullmatch(r"[\w.-]+(\[[\w,-]+\])?>=[\w.]+", specifier), requirement


@pytest.mark.parametrize(
    ("distribution", "plugins"),
    [
        ("curator-core", set()),
        ("curator-devkit", set()),
        ("curator-table", set()),
        ("curator-dedup", {"curator-table"}),
        ("curator-text", {"curator-table", "curator-dedup"}),
        ("curator-image", {"curator-table"}),
        ("curator-video", {"curator-table", "curator-image"}),
        ("curator-audio", {"curator-table"}),
    ],
)
def test_a_distribution_depends_on_core_and_on_these_plugins(distribution, plugins):
    names = {re.split(r"[~><=;\[ ]", each)[0] for each in project(distribution)["dependencies"]}
    assert {name for name in names if name in FOLDERS} == plugins | ({"curator-core"} - {distribution})


@pytest.mark.parametrize("distribution", sorted(FOLDERS.keys() - {"curator-core"}))
def test_plugin_registers_one_light_module(distribution):
    name = distribution.removeprefix("curator-")
    assert project(distribution)["entry-points"] == {"curator.plugins": {name: f"curator_{name}.plugin"}}
    assert (package_folder(distribution) / "plugin.py").is_file()


def test_changelog_has_the_current_version():
    version = declared_version("curator-core")
    assert re.search(rf"^## \[{re.escape(version)}\]", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
