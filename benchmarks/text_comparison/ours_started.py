"""The pipeline of ten filters on a Ray that is up: ``python -m text_comparison.ours_started SMALL IN OUT``.

Prints the seconds that a run over ``IN`` takes after one over ``SMALL`` in the same process, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from curator_core import Pipeline, StreamingExecutor
from curator_core.executors.ray.cluster import connect

PIPELINE = Path(__file__).with_name("ten_filters.yaml")


def main(small: str, source: str, target: str) -> None:
    with connect():
        seconds = [_run(path, f"{target}/{number}") for number, path in enumerate((small, source))]
    print(json.dumps({"first_s": seconds[0], "started_s": seconds[1]}))


def _run(source: str, target: str) -> float:
    pipeline = Pipeline.from_yaml(PIPELINE, variables={"INPUT": source, "OUTPUT": target})
    begun = time.perf_counter()
    pipeline.run(StreamingExecutor())
    return time.perf_counter() - begun


if __name__ == "__main__":
    main(*sys.argv[1:])
