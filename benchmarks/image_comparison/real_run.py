"""Real pictures end to end on two executors: equal files, untouched bytes, copies found, little through the store."""

from __future__ import annotations

import hashlib
import tarfile
import time
from typing import TYPE_CHECKING, Any

from curator_core import LocalExecutor, Pipeline, StreamingExecutor
from curator_dedup import PerceptualDeduplicationWorkflow
from curator_image import AspectFilter, Phash, Probe, QualityFilter, ReadTar, SizeFilter, WriteTar
from curator_table import WriteParquet
from image_comparison.pictures import write_shards

if TYPE_CHECKING:
    from pathlib import Path

_MIN_SIDE = 40
"""Stamps are small."""
_LARGE_SIDE = 128
"""Letters and signs of fewer pixels are little more than their outlines: what JPEG adds changes their hashes."""


def run_real(corpora: Path, folder: Path) -> dict[str, Any]:
    """Return the figures of the run; raise where outputs or bytes differ.

    Raises:
        CorpusUnavailableError: A package cannot be fetched.
    """
    images, copies = write_shards(corpora, folder / "in")
    report: dict[str, Any] = {
        "images": len(images),
        "megabytes": round(sum(map(len, images.values())) / 1e6, 1),
        "planted copies": len(copies),
    }
    for name, executor in (("local", LocalExecutor()), ("streaming", StreamingExecutor())):
        start = time.perf_counter()
        pipeline = Pipeline(stages=_stages(folder / "in", folder / name))
        result = pipeline.run(executor)
        report[f"{name}: seconds"] = round(time.perf_counter() - start, 2)
        report[f"{name}: kept"] = sum(task.num_items for task in result)
        report[f"{name}: quarantined"] = result.quarantined_count
        report[f"{name}: dropped"] = {
            stage: dict(stats.dropped) for stage, stats in result.stats.items() if stats.dropped
        }
        if name == "streaming":
            # Stages of one step hand tables over in memory; what its last stage makes goes through the store.
            steps = pipeline.build().steps
            stored = sum(result.stats[step.stages[-1].stage.name].bytes_out for step in steps)
            encoded = sum(map(len, images.values()))
            report["steps"] = [step.name for step in steps]
            report["bytes through the object store / encoded bytes"] = round(stored / encoded, 3)
            made = max(stats.bytes_out for stats in result.stats.values())
            report["bytes of the largest table stage / encoded bytes"] = round(made / encoded, 3)
    report["outputs are equal"] = _files(folder / "local") == _files(folder / "streaming")
    report["bytes are untouched"] = _untouched(folder / "local", images)
    return report | _recall(folder, copies)


def _stages(shards: Path, output: Path) -> list[Any]:
    return [
        ReadTar(str(shards)),
        SizeFilter(min_width=_MIN_SIDE, min_height=_MIN_SIDE),
        AspectFilter(min_ratio=0.1, max_ratio=10),
        QualityFilter(),
        Phash(),
        WriteTar(str(output)),
    ]


def _files(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.tar"))}


def _untouched(folder: Path, images: dict[str, bytes]) -> bool:
    """Say whether every image that came out has the key and the digest of one that went in."""
    for path in folder.glob("*.tar"):
        with tarfile.open(path) as tar:
            for info in tar:
                key, _, extension = info.name.rpartition(".")
                if extension in ("png", "jpg"):
                    content = tar.extractfile(info).read()
                    if hashlib.sha256(content).digest() != hashlib.sha256(images.get(key, b"")).digest():
                        return False
    return True


def _recall(folder: Path, copies: dict[str, str]) -> dict[str, Any]:
    """Find near duplicates of all pictures and return which share of the planted copies was found."""
    import polars as pl

    columns = ["key", "phash", "width", "height"]
    stages = [ReadTar(str(folder / "in")), Probe(), Phash(), WriteParquet(str(folder / "hashed"), columns=columns)]
    Pipeline(stages=stages).run(LocalExecutor())
    hashed = pl.read_parquet(folder / "hashed" / "*.parquet")
    hashes = dict(hashed.select("key", "phash").rows())
    workflow = PerceptualDeduplicationWorkflow(
        str(folder / "hashed"), cache_path=str(folder / "cache"), output_path=str(folder / "unique"), id_column="key"
    )
    result = workflow.run(LocalExecutor())
    duplicates = pl.read_parquet(result.duplicates_path)
    kept_of = dict(duplicates.select("id", "kept_id").rows())
    sides = {row[0]: min(row[1:]) for row in hashed.select("key", "width", "height").rows()}
    there = [(copy, original) for copy, original in copies.items() if copy in hashes and original in hashes]
    large = [pair for pair in there if sides[pair[1]] >= _LARGE_SIDE]

    def recall(pairs: list[tuple[str, str]]) -> float:
        found = sum(kept_of.get(copy, copy) == kept_of.get(original, original) for copy, original in pairs)
        return round(found / max(1, len(pairs)), 4)

    distances = sorted((hashes[copy] ^ hashes[original]).bit_count() for copy, original in there)
    return {
        "copies found (recall), all": recall(there),
        f"copies found (recall), {len(large)} originals of {_LARGE_SIDE} pixels and more": recall(large),
        "bits between copy and original, median and most": [distances[len(distances) // 2], distances[-1]],
        "removed as near duplicates": result.removed,
    }
