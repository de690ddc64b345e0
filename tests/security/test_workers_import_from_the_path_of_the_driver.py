"""Files that lie beside the data are never imported: workers have the driver's search path and nothing more."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# What the processes of a run import: packages of ours and of Ray, and what Python itself imports when it starts.
HOSTILE = ["numpy", "orjson", "polars", "pyarrow", "sitecustomize", "usercustomize", "yaml"]
MODULE = "import pathlib\npathlib.Path(__file__).with_suffix('.ran').touch()\n"
PIPELINE = """
version: 1
stages:
  - table.read_jsonl: {{paths: {folder}/rows.jsonl}}
  - table.where: {{expression: "length(text) > 3"}}
  - table.write_jsonl: {{path: {folder}/out}}
"""
SCRIPT = """
import sys
from curator_core import Pipeline, RayDataExecutor, StreamingExecutor
from beside import Shout
from curator_table import ReadJsonl
from curator_table import WriteJsonl

executors = {"ray_data": RayDataExecutor, "streaming": StreamingExecutor}

class Mark(Shout):
    def setup(self):
        import imported_in_a_worker
        self.mark = imported_in_a_worker.MARK

if __name__ == "__main__":
    stages = [ReadJsonl(sys.argv[2] + "/rows.jsonl"), Mark(), WriteJsonl(sys.argv[2] + "/out")]
    Pipeline("shouting", stages=stages).run(executors[sys.argv[1]]())
"""
BESIDE = """
from curator_core import ProcessingStage

class Shout(ProcessingStage):
    mark = "none"

    def process(self, task):
        import pyarrow as pa
        texts = [text + self.mark for text in task.data["text"].to_pylist()]
        return task.with_data(pa.table({"text": texts}))
"""


@pytest.fixture
def downloads(tmp_path):
    """A folder with data and with modules that say that they were imported."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    rows = [{"text": text} for text in ("a", "a longer text", "another one")]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in HOSTILE:
        (folder / f"{name}.py").write_text(MODULE)
    return folder


def run_in(folder, command):
    """Run a command, with a limit: a worker that cannot even import is started again and again."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RAY_ADDRESS")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, (imported_from(folder), done.stderr)


def imported_from(folder):
    return sorted(path.name for path in folder.glob("*.ran"))


def texts_in(folder):
    lines = [line for path in (folder / "out").glob("*.jsonl") for line in path.read_text().splitlines()]
    return sorted(json.loads(line)["text"] for line in lines)


def curator(folder, *arguments):
    (folder / "p.yaml").write_text(PIPELINE.format(folder=folder))
    run_in(folder, [Path(sys.executable).with_name("curator"), "run", "p.yaml", *arguments])


@pytest.mark.parametrize("executor", ["actor_pool", "streaming"])
def test_modules_beside_the_data_do_not_run_in_the_workers_of_a_ray_of_our_own(downloads, executor):
    curator(downloads, "--executor", executor)
    assert imported_from(downloads) == []
    assert texts_in(downloads) == ["a longer text", "another one"]


def test_modules_beside_the_data_do_not_run_in_the_workers_of_a_cluster(downloads, ray_session):
    import ray

    curator(downloads, "--executor", "streaming", "--address", ray.get_runtime_context().gcs_address)
    assert imported_from(downloads) == []
    assert texts_in(downloads) == ["a longer text", "another one"]


@pytest.mark.parametrize("executor", ["ray_data", "streaming"])
def test_modules_beside_a_script_are_found_by_its_workers(downloads, tmp_path, executor):
    project = tmp_path / "project"
    project.mkdir()
    (project / "script.py").write_text(SCRIPT)
    (project / "beside.py").write_text(BESIDE)
    (project / "imported_in_a_worker.py").write_text("MARK = '!'\n")
    run_in(downloads, [sys.executable, str(project / "script.py"), executor, str(downloads)])
    assert texts_in(downloads) == ["a longer text!", "a!", "another one!"]
    assert imported_from(downloads) == []


def test_the_command_as_a_module_does_not_import_from_the_current_folder(downloads):
    (downloads / "p.yaml").write_text(PIPELINE.format(folder=downloads))
    run_in(downloads, [sys.executable, "-m", "curator_core", "run", "p.yaml", "--executor", "local"])
    assert imported_from(downloads) == []
    assert texts_in(downloads) == ["a longer text", "another one"]


def test_a_folder_that_is_on_the_path_of_the_driver_is_on_that_of_the_workers(downloads):
    (downloads / "p.py").write_text(SCRIPT)
    (downloads / "beside.py").write_text(BESIDE)
    (downloads / "imported_in_a_worker.py").write_text("MARK = '!'\n")
    for name in HOSTILE:
        (downloads / f"{name}.py").unlink()
    code = "import runpy, sys; sys.argv[1:] = ['streaming', '.']; runpy.run_module('p', run_name='__main__')"
    run_in(downloads, [sys.executable, "-c", code])
    assert texts_in(downloads) == ["a longer text!", "a!", "another one!"]
