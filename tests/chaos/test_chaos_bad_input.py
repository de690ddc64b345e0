"""Thousands of damaged files of every format: no crash, nothing unaccounted for, no wrong row where checksums can tell.

The mutants are read in processes of their own, so that a crash in native code is counted and traced to its mutant.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORMATS = [
    "jsonl", "jsonl.gz", "jsonl.zst", "jsonl.bz2", "jsonl.xz", "csv", "parquet", "parquet, foreign", "arrow",
    "arrow, foreign", "warc", "warc.gz", "warc.zst",
]  # fmt: skip
SEED = 20261116
SLICE = 5000  # a process takes 1.7 s to start: as long as reading 140 to 1,100 mutants
TIMEOUT_S = 600


class Outcome:
    """What became of the mutants of one format."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.crashes: list[str] = []

    def add(self, report: dict) -> None:
        self.counts.update(report["outcomes"])
        self.problems += [f"{each['index']} ({each['operation']}): {each['problem']}" for each in report["problems"]]

    def row(self, name: str) -> str:
        clean, partly, quarantined, wrong = (self.counts[key] for key in ("clean", "partly", "quarantined", "wrong"))
        total = clean + partly + quarantined + wrong + len(self.crashes)
        return f"{name:<17}{total:>8}{clean:>8}{partly:>8}{quarantined:>13}{len(self.crashes):>9}{wrong:>8}"


def read_mutants(folder: Path, first: int, count: int, *names: str) -> subprocess.CompletedProcess:
    arguments = [str(folder), str(SEED), str(first), str(count), *names]
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.chaos.bad_input_campaign", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def campaign(name: str, folder: Path, first: int, count: int) -> Outcome:
    """Read some mutants; where the process dies, halve until the guilty ones are alone."""
    outcome = Outcome()
    waiting = [(first, count)]
    while waiting:
        first, count = waiting.pop()
        try:
            done = read_mutants(folder, first, count, name)
            died = done.returncode < 0
            last_words = f"signal {-done.returncode}"
        except subprocess.TimeoutExpired:
            died, last_words = True, f"no end within {TIMEOUT_S} s"
        if not died:
            assert done.returncode == 0, done.stderr
            assert not done.stderr, done.stderr
            outcome.add(json.loads(done.stdout)[name])
        elif count == 1:
            outcome.crashes.append(f"{first}: {last_words}")
        else:
            waiting += [(first, count // 2), (first + count // 2, count - count // 2)]
    return outcome


def heading() -> str:
    return f"{'format':<17}{'mutants':>8}{'clean':>8}{'partly':>8}{'quarantined':>13}{'crashes':>9}{'wrong':>8}"


def test_some_mutants_of_each_format(tmp_path):
    done = read_mutants(tmp_path, 0, 100, *FORMATS)
    assert (done.returncode, done.stderr) == (0, "")
    reports = json.loads(done.stdout)
    assert set(reports) == set(FORMATS)
    for name, report in reports.items():
        assert not report["problems"], name
        counts = Counter(report["outcomes"])
        assert sum(counts.values()) == 100
        assert counts["quarantined"] + counts["partly"] > 30, f"the mutants of {name} are hardly damaged"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "mutants", [pytest.param(1_000, marks=pytest.mark.chaos), pytest.param(10_000, marks=pytest.mark.soak)]
)
def test_thousands_of_mutants_of_each_format(mutants, tmp_path):
    size = min(SLICE, mutants)
    starts = range(0, mutants, size)
    jobs = [(name, tmp_path / f"{number}-{start}", start) for number, name in enumerate(FORMATS) for start in starts]
    totals = {name: Outcome() for name in FORMATS}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _, _), outcome in zip(jobs, pool.map(lambda job: campaign(*job, size), jobs), strict=True):
            totals[name].counts += outcome.counts
            totals[name].problems += outcome.problems
            totals[name].crashes += outcome.crashes
    print("", heading(), *(totals[name].row(name) for name in FORMATS), sep="\n")  # noqa: T201 - the figures of the suite
    assert {name: total.crashes for name, total in totals.items() if total.crashes} == {}
    assert {name: total.problems[:3] for name, total in totals.items() if total.problems} == {}


def test_a_mutant_depends_on_seed_and_index_only():
    code = (
        "from tests.support.mutation import OPERATIONS, mutate; import hashlib\n"
        "data, donor = bytes(range(256)) * 20, bytes(range(255, -1, -1)) * 20\n"
        "mutants = [mutate(data, donor, seed=7, index=index) for index in range(300)]\n"
        "assert {each.operation for each in mutants} == set(OPERATIONS)\n"
        "assert sum(each.data != data for each in mutants) > 280\n"
        "assert all(each.data[:each.kept_head] == data[:each.kept_head] for each in mutants)\n"
        "print(hashlib.sha256(b'|'.join(each.data for each in mutants)).hexdigest())"
    )
    digests = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT).stdout for _ in range(2)
    }
    assert len(digests) == 1
