"""Thousands of damaged videos of every container: no crash, no hang, each bad one quarantined, the others unharmed.

They go through a whole pipeline in processes of their own, so that a crash in native code is counted and traced.
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
FORMATS = ["mp4", "webm", "mkv", "avi", "mov"]
SEED = 20261117
MUTANTS = 1_000
SLICE = 500
TIMEOUT_S = 600


def curate_mutants(folder: Path, first: int, count: int, *names: str) -> subprocess.CompletedProcess:
    arguments = [str(folder), str(SEED), str(first), str(count), *names]
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.video.mutant_campaign", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
        cwd=ROOT,
    )


def campaign(name: str, folder: Path, first: int, count: int) -> tuple[Counter, list, list]:
    """Curate some mutants; where the process dies or hangs, halve until the guilty ones are alone."""
    counts, problems, crashes = Counter(), [], []
    waiting = [(first, count)]
    while waiting:
        begin, size = waiting.pop()
        try:
            done = curate_mutants(folder / f"{begin}-{size}", begin, size, name)
            last_words = f"signal {-done.returncode}" if done.returncode < 0 else None
        except subprocess.TimeoutExpired:
            last_words = f"no end within {TIMEOUT_S} s"
        if last_words is None:
            assert (done.returncode, done.stderr) == (0, ""), done.stderr
            report = json.loads(done.stdout)[name]
            counts.update(report["outcomes"])
            problems += report["problems"]
        elif size == 1:
            crashes.append(f"{begin}: {last_words}")
        else:
            waiting += [(begin, size // 2), (begin + size // 2, size - size // 2)]
    return counts, problems, crashes


def test_some_mutants_of_each_container(tmp_path):
    done = curate_mutants(tmp_path, 0, 40, *FORMATS)
    assert (done.returncode, done.stderr) == (0, "")
    for name, report in json.loads(done.stdout).items():
        assert report["problems"] == [], name
        counts = Counter(report["outcomes"])
        assert sum(counts.values()) == 40
        assert counts["quarantined"] > 8, f"the mutants of {name} are hardly damaged"


@pytest.mark.chaos
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", FORMATS)
def test_a_thousand_mutants_of_each_container(tmp_path, name, capsys):
    starts = range(0, MUTANTS, SLICE)
    counts, problems, crashes = Counter(), [], []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, wrong, dead in pool.map(lambda start: campaign(name, tmp_path, start, SLICE), starts):
            counts += found
            problems += wrong
            crashes += dead
    with capsys.disabled():
        print(f"\n{name}: {dict(counts)}, {len(crashes)} crashes or hangs, {len(problems)} problems")  # noqa: T201 - the figures of make chaos
    assert crashes == []
    assert problems[:3] == []
    assert sum(counts.values()) == MUTANTS
