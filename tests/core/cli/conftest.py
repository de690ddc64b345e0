"""A toy plugin, installed as pip would install it, and a way to call the command line in this process."""

import json
import os
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

import curator_core
from curator_core.cli import main
from curator_core.registry import default_registry

PLUGIN = """
    from curator_core.hookspecs import hookimpl
    from curator_core.specs import CommandSpec, StageSpec

    CURATOR_API = (1, 0)

    @hookimpl
    def curator_stages():
        home = "curator_toy.stages"
        return [
            StageSpec("rows", target=f"{home}:Rows", summary="Make rows.", kind="reader"),
            StageSpec("min_chars", target=f"{home}:MinChars", summary="Drop short texts.", kind="filter"),
            StageSpec("shout", target=f"{home}:shout", summary="Upper-case the text.", kind="modifier"),
            StageSpec("fail", target=f"{home}:Fail", summary="Fail on a word.", kind="other"),
            StageSpec("slow", target=f"{home}:Slow", summary="Take a while.", kind="other"),
            StageSpec("write", target=f"{home}:Write", summary="Write text files.", kind="writer"),
            StageSpec("explode", target=f"{home}:Explode", summary="Break in setup.", kind="other"),
            StageSpec("moon", target="nowhere:Moon", summary="Fly.", requires=("no_such_rocket",), extra="moon"),
        ]

    @hookimpl
    def curator_commands():
        return [
            CommandSpec("hello", target="curator_toy.hello:Hello", summary="Greet."),
            CommandSpec("run", target="curator_toy.hello:Hello", summary="Wants the name of a built-in command."),
            CommandSpec("half", target="curator_toy.stages:Rows", summary="Not a command."),
        ]
"""

STAGES = """
    import pathlib
    import time
    from dataclasses import dataclass, field

    from curator_core import (
        EmptyTask, FileGroupTask, Filter, ProcessingStage, Resources, TableBatch, Verdict, processing_stage
    )

    @dataclass
    class Rows(ProcessingStage[EmptyTask, TableBatch]):
        '''Make rows of text.

        Args:
            count: How many.
            words: The texts,
                used in turn.
            per_batch: Rows in a batch.
        '''

        name = "toy.rows"
        count: int = 4
        words: list[str] = field(default_factory=lambda: ["hello", "hi", "good morning"])
        per_batch: int = 2

        def process(self, task):
            for start in range(0, self.count, self.per_batch):
                numbers = list(range(start, min(start + self.per_batch, self.count)))
                yield TableBatch(data={"id": numbers, "text": [self.words[n % len(self.words)] for n in numbers]})

        def outputs(self):
            return ["id", "text"]

        def preflight(self):
            return ["id", "text"]

    @dataclass
    class MinChars(Filter):
        '''Drop texts that are too short.

        Args:
            min_chars: Shortest text to keep.
            text_column: Column that holds the text.
        '''

        name = "toy.min_chars"
        min_chars: int = 3
        text_column: str = "text"

        def judge(self, batch):
            length = batch.text(self.text_column).str.len_chars()
            return Verdict(length, {"too_short": length < self.min_chars})

    @processing_stage(name="toy.shout", inputs=["text"])
    def shout(batch: TableBatch) -> TableBatch:
        '''Upper-case the text.'''
        return batch.with_column("text", batch.text("text").str.to_uppercase())

    @dataclass
    class Fail(ProcessingStage[TableBatch, TableBatch]):
        name = "toy.fail"
        row_wise = True
        word: str = "hi"

        def process(self, task):
            if self.word in task.text("text").to_list():
                raise ValueError(f"cannot stand {self.word!r}")
            return task

    @dataclass
    class Slow(ProcessingStage[TableBatch, TableBatch]):
        name = "toy.slow"
        seconds: float = 0.1
        marker: str = ""

        def process(self, task):
            if self.marker:
                pathlib.Path(self.marker).touch()
            time.sleep(self.seconds)
            return task

    @dataclass
    class Write(ProcessingStage[TableBatch, FileGroupTask]):
        name = "toy.write"
        path: str

        def process(self, task):
            folder = pathlib.Path(self.path)
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"part-{task.task_id.replace('/', '-')}.txt"
            file.write_text("".join(f"{line}\\n" for line in task.text("text")))
            return FileGroupTask(data=[str(file)], meta={"rows": task.num_rows})

    class Explode(ProcessingStage[TableBatch, TableBatch]):
        name = "toy.explode"

        def setup(self, worker):
            raise RuntimeError("no fuse")

        def process(self, task):
            return task
"""

HELLO = """
    class Hello:
        @staticmethod
        def add_arguments(parser):
            parser.add_argument("who")

        @staticmethod
        def run(args):
            print(f"hello {args.who}")
"""

PIPELINE = """
version: 1
name: demo
stages:
  - toy.rows: {count: 6}
  - toy.shout
  - toy.min_chars: {min_chars: "${MIN:-3}"}
  - toy.write: {path: "${OUT}"}
"""


def install_plugin(site: Path, name: str, plugin: str, **modules: str) -> None:
    package = site / f"curator_{name}"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for module, code in {"plugin": plugin, **modules}.items():
        (package / f"{module}.py").write_text(textwrap.dedent(code))
    info = site / f"curator_{name}-0.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: curator-{name}\nVersion: 0.3\n")
    (info / "entry_points.txt").write_text(f"[curator.plugins]\n{name} = curator_{name}.plugin\n")


@dataclass
class Outcome:
    """What a call of the command line left."""

    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def fresh_registry():
    default_registry.cache_clear()
    yield
    default_registry.cache_clear()


@pytest.fixture
def site(tmp_path, monkeypatch, fresh_registry):
    """A folder on the path with the toy plugin in it."""
    folder = tmp_path / "site"
    install_plugin(folder, "toy", PLUGIN, stages=STAGES, hello=HELLO)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv("CURATOR_TRACEBACK", raising=False)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture
def environment(site):
    """Environment for a new process that sees the toy plugin."""
    source = Path(curator_core.__file__).parent.parent
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(source)])}


@pytest.fixture
def cli(site, capsys):
    """Call ``curator`` with the toy plugin installed."""

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        status = main([str(each) for each in arguments])
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call


@pytest.fixture
def write_pipeline(tmp_path):
    def write(text: str = PIPELINE, name: str = "p.yaml") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    return write
