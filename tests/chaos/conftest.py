"""What the fault tests share: a corpus, pipelines over it in every format, and the comparison of what is left."""

import json
import os
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import curator_core
import curator_text
from curator_core import Pipeline
from curator_table import ReadJsonl, WriteArrow, WriteCsv, WriteJsonl, WriteParquet
from curator_text import WordCount


def gzipped(path):
    return WriteJsonl(path, compression="gz")


WRITERS = {"jsonl": WriteJsonl, "jsonl.gz": gzipped, "parquet": WriteParquet, "csv": WriteCsv, "arrow": WriteArrow}


def write_corpus(folder, *, files=6, rows=30):
    """Files of one source task each; the third has a bad record."""
    folder.mkdir(parents=True)
    for number in range(files):
        lines = [json.dumps({"id": f"{number}-{row}", "text": "word " * (row % 7)}) for row in range(rows)]
        if number == 2:
            lines.insert(5, '{"text": "torn')
        (folder / f"{number:03}.jsonl").write_text("\n".join(lines) + "\n")


def tree(folder):
    """Every file below a folder, hidden ones too."""
    if not folder.exists():
        return {}
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@dataclass
class Figures:
    """What a fault test counts; everything but the faults must be zero."""

    faults: int = 0
    resumes: int = 0
    lost: int = 0
    duplicated: int = 0
    differing: int = 0
    torn: int = 0
    notes: list[str] = field(default_factory=list)

    def compare(self, left, expected):
        """Compare the files that a run left with those that it should have left."""
        self.torn += sum(Path(name).name.startswith(".") for name in left)
        visible = {name: data for name, data in left.items() if not Path(name).name.startswith(".")}
        rows, wanted = (
            Counter(line for data in files.values() for line in data.splitlines()) for files in (visible, expected)
        )
        self.lost += (wanted - rows).total()
        self.duplicated += (rows - wanted).total()
        self.differing += len(visible.items() ^ expected.items())

    def check(self, what):
        print(  # noqa: T201 - the figures are what the suite is for
            f"\n{what}: {self.faults} faults, {self.resumes} resumes, {self.lost} lost, {self.duplicated} duplicated, "
            f"{self.differing} differing files, {self.torn} torn files left"
        )
        assert self.faults > 0
        assert (self.lost, self.duplicated, self.differing, self.torn) == (0, 0, 0, 0)


class World:
    """A corpus, an output folder and a run directory."""

    def __init__(self, root, *, kind="jsonl", output=None, files=6):
        self.root = root
        self.kind = kind
        self.output = output or str(root / "out")
        self.run_dir = root / "run"
        if not (root / "in").exists():
            write_corpus(root / "in", files=files)

    def pipeline(self, *, output=None, workers=None):
        """The pipeline, with so many workers for each stage at most."""
        stages = [
            ReadJsonl(str(self.root / "in"), block_bytes=1_000),
            WordCount(min_words=3, save_dropped=True),
            WRITERS[self.kind](output or self.output),
        ]
        return Pipeline("p", stages=stages if workers is None else [each.with_(max_workers=workers) for each in stages])

    def run(self, executor=None, *, output=None, run_dir=None, **options):
        return self.pipeline(output=output).run(executor, run_dir=run_dir or self.run_dir, **options)

    def reference(self):
        """The files of a run that nobody disturbs."""
        self.run(output=str(self.root / f"reference-{self.kind}"), run_dir=self.root / f"reference-run-{self.kind}")
        return tree(self.root / f"reference-{self.kind}")


@pytest.fixture
def world(quick_path):
    return World(quick_path)


@pytest.fixture
def make_world(quick_path):
    return lambda **options: World(quick_path, **options)


@pytest.fixture(params=WRITERS)
def kind(request):
    return request.param


@pytest.fixture
def figures():
    return Figures()


PLUGIN = """
    from curator_core.hookspecs import hookimpl
    from curator_core.specs import StageSpec

    CURATOR_API = (1, 0)

    @hookimpl
    def curator_stages():
        return [StageSpec("doze", target="curator_doze.stages:Doze", summary="Take a while.")]
"""
STAGES = """
    import time
    from dataclasses import dataclass
    from curator_core import ProcessingStage, TableBatch

    @dataclass
    class Doze(ProcessingStage[TableBatch, TableBatch]):
        name = "doze.doze"
        thread_safe = True
        seconds: float = 0.01

        def process(self, task):
            time.sleep(self.seconds)
            return task
"""
PIPELINE = """
    version: 1
    name: dozing
    stages:
      - table.read_jsonl: {paths: "${IN}", block_bytes: 1000}
      - text.word_count: {min_words: 3}
      - doze.doze: {seconds: "${SECONDS}"}
      - table.write_jsonl: {path: "${OUT}"}
"""


class Driver:
    """``curator run`` in a process of its own, over a corpus that takes some time."""

    def __init__(self, root, *, seconds, files):
        self.root = root
        self.seconds = seconds
        write_corpus(root / "in", files=files)
        (root / "p.yaml").write_text(textwrap.dedent(PIPELINE))
        package = root / "site" / "curator_doze"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "plugin.py").write_text(textwrap.dedent(PLUGIN))
        (package / "stages.py").write_text(textwrap.dedent(STAGES))
        info = root / "site" / "curator_doze-0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: curator-doze\nVersion: 0.1\n")
        (info / "entry_points.txt").write_text("[curator.plugins]\ndoze = curator_doze.plugin\n")

    def start(self, *arguments, output="out", run_dir="run", **environment):
        sources = [Path(module.__file__).parent.parent for module in (curator_core, curator_text)]
        path = os.pathsep.join(str(each) for each in (self.root / "site", *sources))
        values = {"IN": self.root / "in", "OUT": self.root / output, "SECONDS": self.seconds}
        given = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
        command = [sys.executable, "-m", "curator_core", "run", str(self.root / "p.yaml"), *given, "--quiet"]
        return subprocess.Popen(
            [*command, "--run-dir", str(self.root / run_dir), *arguments],
            env={**os.environ, "PYTHONPATH": path, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process):
        """Wait for the end; every run has one bad record, which the exit status tells."""
        _, err = process.communicate(timeout=300)
        assert process.returncode == 3, err
        return err

    def reference(self):
        self.finish(self.start(output="reference", run_dir="reference-run"))
        return tree(self.root / "reference")


@pytest.fixture
def make_driver(tmp_path):
    return lambda **options: Driver(tmp_path, **options)


@pytest.fixture
def files_of():
    return tree
