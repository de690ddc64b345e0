"""A cleaning job needs as much memory as its batches do, however much there is to read."""

import json
import subprocess
import sys

import pytest

SMALL_MB, LARGE_MB = 8, 72
MAX_GROWTH_MB = 32
"""Half of what the second run reads more than the first, and twice what allocators were seen to keep."""
PROSE = "It is the habit of the sea to be calm in the morning and wild at night, and that is how we have known it. "

_PROGRAM = r"""
import re, sys
from pathlib import Path

from curator_core import LocalExecutor, Pipeline
from curator_core.registry import make_stage


def peak_mb():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


for size in sys.argv[2:]:
    stages = [
        make_stage("table.read_jsonl", paths=f"{sys.argv[1]}/{size}.jsonl", block_bytes=500_000),
        *(make_stage(f"text.{name}") for name in ("word_count", "numbers", "urls", "repeated_lines", "gopher_quality")),
        make_stage("table.write_jsonl", path=f"{sys.argv[1]}/out-{size}"),
    ]
    result = Pipeline(stages=stages).run(LocalExecutor(threads=2))
    assert sum(task.meta["rows"] for task in result) > 0
    print(peak_mb())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_nine_times_the_input_takes_the_same_memory(tmp_path):
    def fill(name, size_mb):
        with (tmp_path / f"{name}.jsonl").open("w") as file:
            for number in range(size_mb * 1000):
                text = f"Document {number} begins.\n" + "\n".join(f"{number + k}: {PROSE}" for k in range(8))
                file.write(json.dumps({"id": number, "text": text}) + "\n")

    fill("small", SMALL_MB)
    fill("large", LARGE_MB)
    command = [sys.executable, "-c", _PROGRAM, str(tmp_path), "small", "large"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    small, large = map(float, done.stdout.split())
    assert large - small < MAX_GROWTH_MB, (small, large)
