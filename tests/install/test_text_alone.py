"""Core and text from their wheels, with nothing else: what a user gets who curates text."""

import json

import pytest

MEGABYTE = 1_000_000
LARGEST_ENVIRONMENT_MB = 1000  # Ray 240, LLVM for numba 173, pyarrow 170, polars 180, numpy 73: nearly all of it

PLUGIN_FILES = {
    "pyproject.toml": """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "shouting"
version = "1.0"
dependencies = ["curator-core~=0.1"]

[project.entry-points."curator.plugins"]
shouting = "shouting.plugin"
""",
    "src/shouting/__init__.py": "",
    "src/shouting/plugin.py": """\
from curator_core.hookspecs import hookimpl
from curator_core.specs import StageSpec

CURATOR_API = (1, 0)


@hookimpl
def curator_stages():
    return [StageSpec("quiet_only", target="shouting.quiet_only:QuietOnly", summary="Drop shouting.", kind="filter")]
""",
    "src/shouting/quiet_only.py": """\
from dataclasses import dataclass

from curator_core import Filter, Verdict


@dataclass
class QuietOnly(Filter):
    text_column: str = "text"

    def judge(self, batch):
        marks = batch.text(self.text_column).str.count_matches("!")
        return Verdict(marks, {"shouts": marks > 0})
""",
}


@pytest.fixture(scope="module")
def third_party_wheel(tmp_path_factory, build_wheels):
    source = tmp_path_factory.mktemp("shouting")
    for name, content in PLUGIN_FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(content, encoding="utf-8")
    (wheel,) = build_wheels(source / "dist", source)
    return wheel


@pytest.fixture
def pipeline_folder(tmp_path):
    """A pipeline with its input: three documents of 2, 4 and 5 words."""
    documents = [
        {"id": 1, "text": "too short"},
        {"id": 2, "text": "four words are enough"},
        {"id": 3, "text": "BUY " * 5 + "!"},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    return tmp_path


def run_pipeline(environment, folder, *filters):
    """Run read → filters → write through the installed command; return the documents and what the command reported."""
    stages = [
        {"table.read_jsonl": {"paths": "in.jsonl"}},
        {"text.word_count": {"min_words": 3}},
        *filters,
        {"table.write_jsonl": {"path": "out"}},
    ]
    # JSON is YAML: the pipeline file needs no YAML writer.
    (folder / "pipeline.yaml").write_text(json.dumps({"version": 1, "name": "installed", "stages": stages}))
    report = json.loads(environment.curator("run", "pipeline.yaml", "--json", cwd=folder))
    lines = [line for path in sorted((folder / "out").glob("*.jsonl")) for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines], report


def test_only_stages_of_text_and_what_it_needs_are_listed(text_environment):
    stages = text_environment.stages()
    assert stages.keys() <= {"table", "text", "dedup"}
    assert {"table.read_jsonl", "table.write_jsonl"} <= stages["table"]
    assert "text.word_count" in stages["text"]
    assert "dedup.content_hash" in stages["dedup"]


def test_dependencies_are_consistent_and_light(text_environment):
    text_environment.pip("check")
    packages = {name.lower() for name in text_environment.packages()}
    assert packages.isdisjoint({"torch", "transformers", "tensorflow", "jax", "pandas"})
    assert packages.isdisjoint({"pytest", "hypothesis", "curator-image", "curator-video", "curator-audio"})


def test_environment_is_small(text_environment):
    files = [path for path in text_environment.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    sizes = {path: path.stat().st_blocks * 512 for path in files if path.suffix != ".pyc"}
    compiled = sum(size for path, size in sizes.items() if path.suffix == ".py")  # takes about as much again
    size_mb = (sum(sizes.values()) + compiled) / MEGABYTE
    print(f"\nenvironment of core and text: {size_mb:.0f} MB")  # noqa: T201 - the figure is wanted
    assert size_mb <= LARGEST_ENVIRONMENT_MB


def test_pipeline_runs_from_jsonl_to_jsonl(text_environment, pipeline_folder):
    documents, report = run_pipeline(text_environment, pipeline_folder)
    assert [document["id"] for document in documents] == [2, 3]
    assert (report["rows_in"], report["rows_out"]) == (3, 2)


def test_third_party_wheel_adds_its_stages_and_removing_it_removes_them(
    text_environment, third_party_wheel, pipeline_folder
):
    before = text_environment.stages()
    with text_environment.having(third_party_wheel):
        assert text_environment.stages() == {**before, "shouting": {"shouting.quiet_only"}}
        documents, _ = run_pipeline(text_environment, pipeline_folder, "shouting.quiet_only")
        assert [document["id"] for document in documents] == [2]
    assert text_environment.stages() == before
