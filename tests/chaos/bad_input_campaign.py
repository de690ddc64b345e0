"""Read mutants through a pipeline, in a process of its own: native code that crashes takes it along.

Usage: python -m tests.chaos.bad_input_campaign FOLDER SEED FIRST COUNT FORMAT…   prints the outcomes by format as JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curator_core import LocalExecutor, Pipeline
from curator_text import ReadWarc
from tests.support.bad_input_formats import formats
from tests.support.mutation import mutate
from tests.support.plain_readers import READERS

if TYPE_CHECKING:
    from tests.support.bad_input_formats import Judged, Sample
    from tests.support.mutation import Mutant


FILES_PER_RUN = 100
SAMPLES = 12
EXPECTED_ERRORS = {
    "UnreadableFile", "TornFile", "CorruptFile", "InvalidJson", "NotAnObject", "DuplicateKey", "NestedTooDeep",
    "RecordTooLong", "DecompressionBomb", "UnclosedQuotation", "WrongFieldCount", "InvalidUtf8", "CorruptCsv",
    "CorruptParquet", "CorruptArrow", "CorruptWarc",
}  # fmt: skip

CAMPAIGN_READERS: dict[str, Any] = {**READERS, "warc": ReadWarc}


class Campaign:
    """Mutants of one format and what became of them."""

    def __init__(self, judged: Judged, folder: Path) -> None:
        self.judged = judged
        self.folder = folder
        self.samples = [judged.make(number) for number in range(SAMPLES)]
        self.outcomes: Counter[str] = Counter()
        self.problems: list[dict[str, Any]] = []

    def run(self, seed: int, first: int, count: int) -> None:
        for start in range(first, first + count, FILES_PER_RUN):
            self._run_some(seed, range(start, min(start + FILES_PER_RUN, first + count)))

    def _run_some(self, seed: int, indices: range) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        sources: dict[str, tuple[int, Mutant, Sample]] = {}
        for index in indices:
            sample, donor = self.samples[index // 10 % SAMPLES], self.samples[(index // 10 + 1) % SAMPLES]
            mutant = mutate(sample.data, donor.data, seed=seed, index=index)
            path = self.folder / f"{index:06}{self.judged.extension}"
            path.write_bytes(mutant.data)
            sources[str(path)] = (index, mutant, sample)
        middle = indices[len(indices) // 2]
        good = {
            str(self.folder / f"{stem}{self.judged.extension}"): self.samples[0] for stem in ("!", f"{middle:06}x", "z")
        }
        for path, sample in good.items():
            Path(path).write_bytes(sample.data)
        rows, records = self._read()
        for path, sample in good.items():
            if records[path] or len(rows[path]) != len(sample.rows):
                self._problem(indices[0], "good neighbour", f"{path}: {len(rows[path])} rows, {records[path][:1]}")
        for path in records.keys() - sources.keys() - good.keys():
            self._problem(indices[0], "lost source", f"{records[path][0]}")
        for path, (index, mutant, sample) in sources.items():
            self._judge(index, mutant, sample, rows[path], records[path])

    def _read(self) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        result = Pipeline("mutants", stages=[CAMPAIGN_READERS[self.judged.reader](str(self.folder))]).run(
            LocalExecutor(max_attempts=1)
        )
        rows: dict[str, list[Any]] = defaultdict(list)
        records: dict[str, list[Any]] = defaultdict(list)
        for batch in result:
            for row in batch.data.to_pylist():
                rows[row["_source"]].append(row)
        for record in result.quarantined:
            records[record.source].append(record)
        return rows, records

    def _judge(self, index: int, mutant: Mutant, sample: Sample, rows: list[Any], records: list[Any]) -> None:
        for record in records:
            if record.error_type not in EXPECTED_ERRORS:
                self._problem(index, mutant.operation, f"uncaught {record.error_type}: {record.message[:300]}")
            if record.row is None:
                self._problem(index, mutant.operation, f"no offset: {record.error_type}: {record.message[:300]}")
        if mutant.data == sample.data and (records or len(rows) != len(sample.rows)):
            self._problem(index, mutant.operation, f"an unchanged file gave {len(rows)} rows, {records[:1]}")
        problem = self.judged.judge(mutant, sample, rows, records)
        if problem is not None:
            self._problem(index, mutant.operation, problem)
            self.outcomes["wrong"] += 1
        elif not records:
            self.outcomes["clean"] += 1
        else:
            self.outcomes["partly" if rows else "quarantined"] += 1

    def _problem(self, index: int, operation: str, what: str) -> None:
        self.problems.append({"index": index, "operation": operation, "problem": what[:600]})


def main(folder: str, seed: str, first: str, count: str, *names: str) -> None:
    base = Path(folder)
    base.mkdir(parents=True, exist_ok=True)
    reports = {}
    for judged in formats(base):
        if judged.name in names:
            campaign = Campaign(judged, base / "mutants")
            campaign.run(int(seed), int(first), int(count))
            reports[judged.name] = {"outcomes": campaign.outcomes, "problems": campaign.problems}
    sys.stdout.write(json.dumps(reports))


if __name__ == "__main__":
    main(*sys.argv[1:])
