"""Thousands of damaged recordings of every format: no crash, no hang, each bad one quarantined, none lost.

They are decoded in processes of their own, so that a crash in native code is counted and traced to its mutant.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORMATS = ["wav", "flac", "ogg", "opus", "mp3", "m4a", "aac", "webm", "mka", "wma", "amr"]
SEED = 20261117
SLICE = 500
TIMEOUT_S = 240


def decode_mutants(folder, first, count, *names):
    return subprocess.run(
        [sys.executable, "-m", "tests.audio.audio_campaign", str(folder), str(SEED), str(first), str(count), *names],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
        cwd=ROOT,
    )


def campaign(name, folder, first, count):
    """Decode some mutants; where the process dies, halve until the guilty ones are alone."""
    counts, problems = Counter(), []
    waiting = [(first, count)]
    while waiting:
        first, count = waiting.pop()
        try:
            done = decode_mutants(folder, first, count, name)
            died, last_words = done.returncode < 0, f"signal {-done.returncode}"
        except subprocess.TimeoutExpired:
            died, last_words = True, f"no end within {TIMEOUT_S} s"
        if not died:
            assert done.returncode == 0, done.stderr
            report = json.loads(done.stdout)[name]
            counts.update(report["outcomes"])
            problems += report["problems"]
        elif count == 1:
            problems.append(f"{first}: {last_words}")
            counts["crashes"] += 1
        else:
            waiting += [(first, count // 2), (first + count // 2, count - count // 2)]
    return counts, problems


def test_some_mutants_of_each_format(tmp_path):
    done = decode_mutants(tmp_path, 0, 60, *FORMATS)
    assert done.returncode == 0, done.stderr
    reports = json.loads(done.stdout)
    assert set(reports) == set(FORMATS)
    for name, report in reports.items():
        assert not report["problems"], name
        assert sum(report["outcomes"].values()) == 60
        assert report["outcomes"]["quarantined"] > 5, f"the mutants of {name} are hardly damaged"


@pytest.mark.chaos
@pytest.mark.timeout(1800)
def test_a_thousand_mutants_of_each_format(tmp_path):
    starts = range(0, 1000, SLICE)
    jobs = [(name, tmp_path / f"{name}-{start}", start) for name in FORMATS for start in starts]
    totals, problems = {name: Counter() for name in FORMATS}, []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (name, _, _), (counts, found) in zip(jobs, pool.map(lambda job: campaign(*job, SLICE), jobs), strict=True):
            totals[name] += counts
            problems += [f"{name}: {each}" for each in found]
    lines = [f"{'format':<8}{'mutants':>8}{'clean':>8}{'quarantined':>13}{'crashes':>9}"]
    for name, counts in totals.items():
        lines.append(
            f"{name:<8}{counts.total():>8}{counts['clean']:>8}{counts['quarantined']:>13}{counts['crashes']:>9}"
        )
    print("", *lines, sep="\n")  # noqa: T201 - the figures of make chaos
    assert not problems, problems[:10]
