"""Small files that claim to be huge are quarantined, with the cap and how to raise it, in little memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_MIB = 256
EXPECTED = {
    "bomb.jsonl.zst": (0, ["DecompressionBomb"], "max_expansion"),
    "bomb.jsonl.gz": (0, ["DecompressionBomb"], "max_expansion"),
    "bomb.jsonl.bz2": (0, ["DecompressionBomb"], "max_expansion"),
    "bomb.jsonl.xz": (0, ["DecompressionBomb"], "max_expansion"),
    "rows.jsonl.zst": (0, ["DecompressionBomb"], "max_expansion"),
    "bomb.csv.zst": (0, ["UnreadableFile"], "field limit"),
    "bomb.csv.gz": (0, ["UnreadableFile"], "field limit"),
    "bomb.csv.bz2": (0, ["UnreadableFile"], "field limit"),
    "deep.jsonl": (2, ["InvalidJson", "InvalidJson"], "depth"),
    "line.jsonl": (2, ["RecordTooLong"], "max_record_bytes"),
    "quote.csv": (1, ["CorruptCsv"], "block_bytes"),
    "keys.jsonl": (1999, ["TooManyColumns"] * 1001, ""),  # the last record counts those beyond a thousand
    "objects.jsonl": (2, [], ""),
    "runs.arrow": (0, ["DecompressionBomb"], "max_expansion"),
    "texts.arrow": (62, ["DecompressionBomb"], "max_expansion"),
    "nulls.arrow": (0, ["DecompressionBomb"], "max_expansion"),
    "objects.arrow": (62, ["DecompressionBomb"], "max_expansion"),
    "wide.csv": (0, ["UnreadableFile"], "columns"),
    "nulls.parquet": (7340032, ["DecompressionBomb"], "max_expansion"),
    "text.parquet": (62, ["DecompressionBomb"], "max_expansion"),
    "lists.parquet": (254, ["DecompressionBomb"], "max_expansion"),
    "members.tar": (1, ["UnreadableFile", "DecompressionBomb", "UnreadableFile"], ""),
    "pixels.png": (0, ["UnreadableImage"], "max_pixels"),
}


def check(folder: Path, *names: str) -> None:
    """Set off the bombs one after the other in one process, so that their memory would add up."""
    program = [sys.executable, "-W", "error", "-m", "tests.chaos.bombs", str(folder), *names]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=240, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert {report["name"] for report in reports} == set(names)
    for report in reports:
        rows, error_types, hint = EXPECTED[report["name"]]
        assert report["rows"] == rows, report
        assert [error_type for error_type, _, _, _ in report["records"]] == error_types
        for _, source, row, message in report["records"]:
            assert source.endswith(str(folder / report["name"]))
            assert row is not None
            assert hint in message
    grown = sum(report["grown_mib"] for report in reports)
    print(f"\n{len(reports)} bombs one after the other: {grown:.0f} MiB more than before")  # noqa: T201 - a figure of make chaos
    assert grown < MOST_MIB, reports
    assert not list(folder.parent.rglob("escaped*"))


def test_common_bombs(tmp_path):
    check(tmp_path, "bomb.jsonl.zst", "bomb.jsonl.gz", "deep.jsonl", "pixels.png")


def test_bombs_of_columns(tmp_path):
    check(tmp_path, "keys.jsonl", "objects.jsonl", "runs.arrow", "texts.arrow", "nulls.arrow", "wide.csv")


@pytest.mark.chaos
def test_every_bomb(tmp_path):
    check(tmp_path, *EXPECTED)
