"""Reading WebDataset shards: samples per CPU second, against the webdataset package in an environment of its own."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import tarfile
from functools import partial
from pathlib import Path

from engine_comparison.environments import Engine, EnvironmentUnavailableError, interpreter

from curator_core.authoring.tasks import FileGroupTask, FileSlice
from curator_core.files.limits import Limits
from curator_image import ReadTar
from curator_table.tar.archive_bytes import open_archive
from curator_table.tar.members import TarLimits, walk_members
from curator_table.tar.samples import group_samples
from image_comparison.cpu_time import best_cpu_seconds

WEBDATASET = Engine("", "webdataset 1.0.2", "webdataset", ("webdataset==1.0.2",))
SIZES = {"small": 2_000, "large": 100_000}
"""Bytes of an image."""
_PEER = Path(__file__).parent / "webdataset_reading.py"


def tar_cases(folder: Path, *, samples: int, rounds: int) -> dict[str, float]:
    """Return samples per CPU second of every case."""
    found: dict[str, float] = {}
    for name, size in SIZES.items():
        count = samples if name == "small" else max(50, samples // 20)
        path = _write(folder / f"{name}.tar", count, size)
        cases = {
            f"tar {name}: curator, samples": partial(_samples, path),
            f"tar {name}: curator, tables": partial(_read, path),
            f"tar {name}: tarfile": partial(_tarfile, path),
        }
        found |= {case: count / seconds for case, seconds in best_cpu_seconds(cases, rounds).items()}
        try:
            found[f"tar {name}: webdataset"] = count / _peer_seconds(path, rounds)
        except EnvironmentUnavailableError as error:
            print(f"webdataset is left out: {error}", file=sys.stderr)
    return {name: round(value) for name, value in found.items()}


def tar_ratios(cases: dict[str, float]) -> dict[str, float]:
    """Return how many times as fast ours is."""
    return {
        f"tar {size}: curator, {ours} / {peer}": round(
            cases[f"tar {size}: curator, {ours}"] / cases[f"tar {size}: {peer}"], 2
        )
        for size in SIZES
        for ours in ("samples", "tables")
        for peer in ("webdataset", "tarfile")
        if f"tar {size}: {peer}" in cases
    }


def _write(path: Path, count: int, size: int) -> Path:
    draw = random.Random(size)
    with tarfile.open(path, "w") as tar:
        for number in range(count):
            sidecar = json.dumps({"width": 640, "height": 480, "url": f"https://example.org/{number}"}).encode()
            for extension, content in (("jpg", draw.randbytes(size)), ("txt", b"a caption"), ("json", sidecar)):
                info = tarfile.TarInfo(f"{number:08}.{extension}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return path


def _samples(path: Path) -> int:
    """Give out bytes by extension, as webdataset does."""
    count = 0
    with open_archive(FileSlice(str(path)), Limits()) as archive:
        for sample in group_samples(archive, walk_members(archive, str(path), TarLimits()), str(path)):
            _ = {extension: archive.read_part(part) for extension, part in sample.parts.items()}
            count += 1
    return count


def _read(path: Path) -> int:
    """Make Arrow tables, with the sidecars parsed to columns."""
    _, reader = ReadTar(str(path)).decompose()
    task = FileGroupTask(data=(FileSlice(str(path), file_bytes=path.stat().st_size),))
    return sum(batch.num_rows for batch in reader.process(task))


def _tarfile(path: Path) -> int:
    with tarfile.open(path) as tar:
        return sum(len(tar.extractfile(info).read()) for info in tar)


def _peer_seconds(path: Path, rounds: int) -> float:
    done = subprocess.run(
        [interpreter(WEBDATASET), str(_PEER), str(path), str(rounds)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    return float(json.loads(done.stdout)["cpu_seconds"])
