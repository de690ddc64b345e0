"""Our side of the cases of many rows: exact, many documents, vectors."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curator_core import LocalExecutor
from dedup_comparison.measuring import PeakMemory, timed


def exact(documents):
    """Millions of short documents against polars' unique of the text: in memory, and from file to table."""
    import polars as pl

    from curator_dedup import ExactDeduplicationWorkflow

    with tempfile.TemporaryDirectory() as folder:
        Path(f"{folder}/in").mkdir()
        source = f"{folder}/in/a.parquet"
        frame = _numbered_texts(int(documents))
        in_memory, unique_cpu, left = _unique(frame, source)
        ours_in_memory, ours_cpu, removed = _found(frame["text"].to_arrow())
        assert len(frame) - removed == left
        del frame
        from_file, _, _ = timed(lambda: len(pl.read_parquet(source).unique("text")))
        ExactDeduplicationWorkflow(_warm(folder), f"{folder}/warm", perform_removal=False).run(LocalExecutor())
        watch = PeakMemory()
        workflow = ExactDeduplicationWorkflow(f"{folder}/in", f"{folder}/cache", perform_removal=False)
        seconds, cpu, result = timed(lambda: workflow.run(LocalExecutor(threads=2)))
        assert result.kept == left
        return {
            "documents": int(documents),
            "polars_seconds": in_memory,
            "polars_cpu_seconds": unique_cpu,
            "polars_from_file_seconds": from_file,
            "in_memory_seconds": ours_in_memory,
            "in_memory_cpu_seconds": ours_cpu,
            "seconds": seconds,
            "cpu_seconds": cpu,
            "removed": result.removed,
            "peak_mb": watch.stop(),
            "steps": {name: round(each, 2) for name, each in result.steps.seconds.items()},
        }


def _unique(frame, path):
    frame.write_parquet(path, row_group_size=200_000)
    return min((timed(lambda: len(frame.unique("text", maintain_order=True))) for _ in range(3)), key=_seconds)


def _found(texts):
    from curator_dedup import find_exact_duplicates

    find_exact_duplicates(texts.slice(0, 10))  # compiled, or loaded
    return min((timed(lambda: len(find_exact_duplicates(texts))) for _ in range(3)), key=_seconds)


def _seconds(measured):
    return measured[0]


def _numbered_texts(documents):
    import polars as pl

    numbers = np.random.default_rng(0).integers(0, documents * 3 // 4, documents)
    words = pl.Series(
        ["a sentence of some length about", "the same thing said in other words", "nothing in particular"]
    )
    return pl.DataFrame({"n": numbers}).select(
        text=words.gather(numbers % 3) + pl.lit(" and then ").repeat_by(4).list.join("") + pl.col("n").cast(pl.String)
    )


def _warm(folder):
    pq.write_table(pa.table({"text": ["warm", "warm"]}), f"{folder}/w.parquet")
    return f"{folder}/w.parquet"


def semantic(rows, width, clusters, vectors_path):
    """Vectors with planted near-duplicates; the vectors are left in a file for the peer."""
    from curator_dedup import SemanticDeduplicationWorkflow

    rows, width = int(rows), int(width)
    draw = np.random.default_rng(0)
    centres = draw.normal(size=(300, width)).astype(np.float32)
    vectors = draw.normal(size=(rows, width)).astype(np.float32) + centres[draw.integers(0, 300, rows)]
    planted = draw.choice(rows // 2, rows // 50, replace=False)
    noise = draw.normal(size=(len(planted), width)).astype(np.float32) * 0.02
    vectors[rows - len(planted) :] = vectors[planted] + noise
    np.save(vectors_path, vectors)
    with tempfile.TemporaryDirectory() as folder:
        Path(f"{folder}/in").mkdir()
        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), width)
        table = pa.table({"id": np.arange(rows), "embedding": values})
        pq.write_table(table, f"{folder}/in/a.parquet", row_group_size=10_000)
        workflow = SemanticDeduplicationWorkflow(
            f"{folder}/in",
            f"{folder}/cache",
            id_column="id",
            n_clusters=int(clusters),
            eps=0.01,
            perform_removal=False,
        )
        seconds, cpu, result = timed(lambda: workflow.run(LocalExecutor()))
        removed = set(pq.read_table(result.duplicates_path)["id"].to_pylist())
    copies = range(rows - len(planted), rows)
    found = sum(one in removed or other in removed for one, other in zip(planted.tolist(), copies, strict=True))
    steps = {name: round(each, 3) for name, each in result.steps.seconds.items()}
    return {"seconds": seconds, "cpu_seconds": cpu, "planted": len(planted), "found": found, "steps": steps}


def scale(documents, folder, sentences):
    """Millions of short documents of real sentences, a tenth of them copies of one, in bounded memory."""
    from curator_dedup import FuzzyDeduplicationWorkflow

    root = Path(folder)
    shutil.rmtree(root, ignore_errors=True)
    (root / "in").mkdir(parents=True)
    size = _write_documents(root / "in", int(documents), json.loads(Path(sentences).read_text(encoding="utf-8")))
    pa.default_memory_pool().release_unused()
    watch = PeakMemory()
    started = time.perf_counter()
    workflow = FuzzyDeduplicationWorkflow(
        str(root / "in"),
        str(root / "cache"),
        str(root / "out"),
        word_ngrams=5,
        num_bands=14,
        minhashes_per_band=8,
        in_memory_bytes=0,  # as a corpus that does not fit, however few documents are asked for
    )
    result = workflow.run(LocalExecutor(threads=2))
    seconds = time.perf_counter() - started
    peak = watch.stop()
    per_document = {
        name: sum(path.stat().st_size for path in (root / "cache" / name).rglob("*") if path.is_file())
        / max(1, result.documents)
        for name in ("", "keys", "documents", "candidates")
    }
    shutil.rmtree(root)
    return {
        "documents": result.documents,
        "removed": result.removed,
        "largest_cluster": result.largest_cluster,
        "candidate_pairs": result.steps["candidates"]["pairs"],
        "megabytes": size,
        "seconds": seconds,
        "peak_mb": peak,
        "bytes_per_document": {name or "cache": round(each, 1) for name, each in per_document.items()},
        "steps": {name: round(each, 1) for name, each in result.steps.seconds.items()},
    }


def _write_documents(folder, documents, sentences):
    pool = pa.array(sentences, pa.large_string())
    draw = np.random.default_rng(0)
    per_file, size = 250_000, 0.0
    for number in range(0, documents, per_file):
        rows = min(per_file, documents - number)
        parts = [pool.take(pa.array(draw.integers(0, len(pool), rows))) for _ in range(4)]
        texts = pc.binary_join_element_wise(*parts, pa.scalar(". ", pa.large_string())).to_numpy(zero_copy_only=False)
        texts[draw.random(rows) < 0.1] = "one and the same document, over and over again, a million times in all"
        near = np.flatnonzero(draw.random(rows) < 0.1)
        near = near[: len(near) // 2 * 2]
        texts[near[1::2]] = [f"{text} and more" for text in texts[near[::2]]]
        table = pa.table({"text": pa.array(texts, pa.large_string())})
        size += table.nbytes / 1e6
        pq.write_table(table, folder / f"{number:09d}.parquet", row_group_size=50_000)
    return size
