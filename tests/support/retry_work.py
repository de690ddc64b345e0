"""Work of which some fails and is mended later, for the tests of retries."""

import json
from collections import Counter
from pathlib import Path

from curator_core import LocalExecutor, Pipeline, ProcessingStage, TableBatch, Task
from curator_core.pipelines.quarantine_retry import retry_quarantined
from curator_core.run.quarantine.folder import QuarantineFolder
from curator_core.sdk import FileWriter
from curator_table import FORMATS, ReadJsonl


class Refuses(ProcessingStage[TableBatch, TableBatch]):
    """Fails on rows whose number is written in a file, which stands for a bug that gets mended."""

    row_wise = True

    def __init__(self, numbers: str, name: str = "refuses") -> None:
        self.numbers = numbers
        self.name = name

    def process(self, task):
        bad = set(json.loads(Path(self.numbers).read_text()))
        if bad.intersection(task.data["n"].to_pylist()):
            raise ValueError("refused")
        return task


class Breakable(Refuses):
    """Fails on everything while a file is there."""

    def __init__(self, numbers: str, trouble: str) -> None:
        super().__init__(numbers)
        self.trouble = trouble

    def process(self, task):
        if Path(self.trouble).exists():
            raise RuntimeError("broken")
        return super().process(task)


class OnlySmall(ProcessingStage[Task, Task]):
    """Fails on large numbers, in tasks that are no tables."""

    limit = 3

    def process(self, task):
        if task.data["n"] > self.limit:
            raise ValueError("large")
        return task


class Write(FileWriter):
    table_format = FORMATS["jsonl"]


class Work:
    """Four files of five rows each, a pipeline over them, its run and its retries."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run_dir = folder / "run"
        self.refused = folder / "refused.json"
        self.later = folder / "later.json"
        (folder / "in").mkdir(parents=True)
        for file in range(4):
            lines = [json.dumps({"n": file * 5 + k}) for k in range(5)]
            (folder / "in" / f"{file}.jsonl").write_text("\n".join(lines) + "\n")
        self.refuse()

    def refuse(self, *numbers, later=()):
        self.refused.write_text(json.dumps(numbers))
        self.later.write_text(json.dumps(later))

    @property
    def pipeline(self):
        return Pipeline(
            "p",
            stages=[
                ReadJsonl(str(self.folder / "in"), block_bytes=20),
                Refuses(str(self.refused)),
                Refuses(str(self.later), name="later"),
                Write(str(self.folder / "out")),
            ],
        )

    def run(self, *, resume=False, **options):
        return self.pipeline.run(LocalExecutor(max_attempts=1, **options), run_dir=self.run_dir, resume=resume)

    def retry(self, **options):
        options.setdefault("executor", LocalExecutor(max_attempts=1))
        return retry_quarantined(self.run_dir, pipeline=self.pipeline, **options)

    def output(self):
        """Return how often each number was written."""
        lines = [line for path in (self.folder / "out").glob("part-*") for line in path.read_text().splitlines()]
        return Counter(json.loads(line)["n"] for line in lines)

    def files(self):
        return {path.name: path.read_bytes() for path in (self.folder / "out").iterdir()}

    def unresolved(self):
        folder = QuarantineFolder(self.run_dir)
        return [record for key, record in folder.records().items() if key not in folder.resolutions()]


ONCE = Counter(dict.fromkeys(range(20), 1))
