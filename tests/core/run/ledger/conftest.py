"""A small corpus, a pipeline over it, and a way to compare what runs leave."""

import json
from pathlib import Path

import pytest

from curator_core import Pipeline
from curator_text import ReadJsonl, WordCount, WriteJsonl

BLOCK_BYTES = 2_500


def write_corpus(folder: Path) -> None:
    """Eight files: some that share a source task, one with a bad record, one that is cut into pieces."""
    folder.mkdir()
    for number in range(8):
        rows = 260 if number == 5 else 25
        lines = [json.dumps({"id": f"{number}-{row}", "text": "word " * (row % 7)}) for row in range(rows)]
        if number == 3:
            lines.insert(7, '{"text": "torn')
        (folder / f"{number}.jsonl").write_text("\n".join(lines) + "\n")


class Corpus:
    """Runs over the corpus, each with folders of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.input = root / "in"
        self.output = root / "out"
        self.run_dir = root / "run"
        write_corpus(self.input)

    def pipeline(self, *, output=None, min_words=3):
        return Pipeline(
            "p",
            stages=[
                ReadJsonl(str(self.input), block_bytes=BLOCK_BYTES),
                WordCount(min_words=min_words, save_dropped=True),
                WriteJsonl(str(output or self.output)),
            ],
        )

    def run(self, executor=None, **options):
        return self.pipeline().run(executor, run_dir=self.run_dir, **options)

    def reference(self, **options):
        """What a run that nobody disturbs leaves: its result and its files."""
        result = self.pipeline(output=self.root / "reference", **options).run(run_dir=self.root / "reference-run")
        return result, self.tree(self.root / "reference")

    @property
    def ledger(self) -> Path:
        return self.run_dir / "ledger.jsonl"

    @staticmethod
    def tree(folder: Path) -> dict[str, bytes]:
        """Every file below a folder, hidden ones too."""
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def check(self, result, reference) -> None:
        """Compare a result, and all it left, with those of a run that nobody disturbed."""
        expected, files = reference
        assert self.tree(self.output) == files
        assert counts(result) == counts(expected)
        names = [[Path(path).name for path in each.outputs] for each in (result, expected)]
        assert names[0] == names[1]
        kept = [sorted(self.tree(self.root / run / "dropped").items()) for run in ("run", "reference-run")]
        assert kept[0] == kept[1]
        records = (self.run_dir / "quarantine" / "records.jsonl").read_text().splitlines()
        assert len(records) == result.quarantined_count == expected.quarantined_count == 1


def counts(result):
    """What a result says about rows, without what depends on time and workers."""
    left_out = ("busy_fraction", "workers", "queue_peak", "process_time_s", "setup_time_s", "retries", "failures")
    return [{key: value for key, value in stage.items() if key not in left_out} for stage in result.to_dict()["stages"]]


@pytest.fixture
def corpus(tmp_path):
    return Corpus(tmp_path)
