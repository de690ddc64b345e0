"""What curator-dedup does with the same corpora: programs for this environment. Imports and compilation are not timed.

Usage: python ours.py CASE ARGUMENTS…. Prints one JSON object.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curator_core.column_bytes import column_bytes


def signatures(corpus, unit, ngrams, hashes):
    """Signatures alone, in one thread: megabytes per CPU second."""
    from curator_dedup.minhash.scheme import MinhashScheme
    from curator_dedup.minhash.signing import sign

    column = column_bytes(pq.read_table(corpus, columns=["text"])["text"])
    scheme = MinhashScheme(unit=unit, ngrams=int(ngrams), num_hashes=int(hashes))
    sign(column_bytes(pa.array(["warm up the kernel"])), scheme)
    best = min(_cpu_seconds(lambda: sign(column, scheme)) for _ in range(3))
    return {"megabytes": int(column.offsets[-1]) / 1e6, "cpu_seconds": best}


def fuzzy(corpus, ngrams, bands, rows, threshold, threads, removal):
    """The whole workflow, from the file to the table of duplicates or to the files that are left."""
    from curator_core import LocalExecutor
    from curator_dedup import FuzzyDeduplicationWorkflow

    def run(source):
        with tempfile.TemporaryDirectory() as folder:
            workflow = FuzzyDeduplicationWorkflow(
                source,
                f"{folder}/cache",
                f"{folder}/out",
                id_field="id",
                word_ngrams=int(ngrams),
                num_bands=int(bands),
                minhashes_per_band=int(rows),
                threshold=float(threshold),
                perform_removal=removal == "yes",
                block_bytes=8 << 20,
            )
            started = time.perf_counter()
            result = workflow.run(LocalExecutor(threads=int(threads)))
            return time.perf_counter() - started, result

    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(
            pa.table({"id": ["a", "b"], "text": ["warm up the kernels, all of them"] * 2}), f"{folder}/w.parquet"
        )
        run(f"{folder}/w.parquet")
    # Row groups are the units of work: as many as threads can share.
    table = pq.read_table(corpus)
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/c.parquet", row_group_size=max(1, len(table) // 12))
        seconds, result = run(f"{folder}/c.parquet")
    size = pa.compute.sum(pa.compute.binary_length(table["text"])).as_py()
    steps = {name: round(each, 3) for name, each in result.steps.seconds.items()}
    return {
        "seconds": seconds,
        "removed": result.removed,
        "documents": len(table),
        "megabytes": size / 1e6,
        "steps": steps,
    }


def exact(documents):
    """Millions of short documents: ours, from file to table of duplicates, against polars' unique in memory."""
    import polars as pl

    from curator_core import LocalExecutor
    from curator_dedup import ExactDeduplicationWorkflow

    draw = np.random.default_rng(0)
    numbers = draw.integers(0, int(documents) * 3 // 4, int(documents))
    words = pl.Series(
        ["a sentence of some length about", "the same thing said in other words", "nothing in particular"]
    )
    frame = pl.DataFrame({"n": numbers}).select(
        text=words.gather(numbers % 3) + pl.lit(" and then ").repeat_by(4).list.join("") + pl.col("n").cast(pl.String)
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(f"{folder}/in").mkdir()
        frame.write_parquet(f"{folder}/in/a.parquet", row_group_size=200_000)
        started = time.perf_counter()
        left = len(frame.unique(maintain_order=True))
        theirs = time.perf_counter() - started
        del frame
        watch = PeakMemory()
        started = time.perf_counter()
        workflow = ExactDeduplicationWorkflow(f"{folder}/in", f"{folder}/cache", perform_removal=False)
        result = workflow.run(LocalExecutor(threads=2))
        ours = time.perf_counter() - started
        assert result.kept == left
        return {"polars_seconds": theirs, "seconds": ours, "removed": result.removed, "peak_mb": watch.stop()}


def semantic(rows, width, clusters):
    """Vectors with planted near-duplicates: ours against mini-batch k-means of scikit-learn and numpy."""
    import torch

    from curator_core import LocalExecutor
    from curator_dedup import SemanticDeduplicationWorkflow

    torch.set_num_threads(2)
    rows, width, clusters = int(rows), int(width), int(clusters)
    draw = np.random.default_rng(0)
    centres = draw.normal(size=(300, width)).astype(np.float32)
    vectors = draw.normal(size=(rows, width)).astype(np.float32) + centres[draw.integers(0, 300, rows)]
    planted = draw.choice(rows // 2, rows // 50, replace=False)
    vectors[rows - len(planted) :] = (
        vectors[planted] + draw.normal(size=(len(planted), width)).astype(np.float32) * 0.02
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(f"{folder}/in").mkdir()
        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), width)
        table = pa.table({"id": np.arange(rows), "embedding": values})
        pq.write_table(table, f"{folder}/in/a.parquet", row_group_size=10_000)
        workflow = SemanticDeduplicationWorkflow(
            f"{folder}/in", f"{folder}/cache", id_field="id", n_clusters=clusters, eps=0.01, perform_removal=False
        )
        started = time.perf_counter()
        result = workflow.run(LocalExecutor())
        ours = time.perf_counter() - started
        removed = set(pq.read_table(result.duplicates_path)["id"].to_pylist())
    copies = range(rows - len(planted), rows)
    found = sum(one in removed or other in removed for one, other in zip(planted.tolist(), copies, strict=True))
    theirs = _semantic_by_scikit_learn(vectors, clusters)
    steps = {name: round(each, 3) for name, each in result.steps.seconds.items()}
    return {"seconds": ours, "scikit_learn_seconds": theirs, "planted": len(planted), "found": found, "steps": steps}


def _semantic_by_scikit_learn(vectors, clusters):
    from sklearn.cluster import MiniBatchKMeans

    started = time.perf_counter()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    labels = MiniBatchKMeans(clusters, batch_size=4096, n_init=1, random_state=0).fit_predict(unit)
    for cluster in range(clusters):
        members = unit[labels == cluster]
        (np.triu(members @ members.T, 1) >= 0.99).any(axis=0)
    return time.perf_counter() - started


def scale(documents, folder, sentences):
    """Millions of short documents of real sentences, a tenth of them copies of one, in bounded memory."""
    from curator_core import LocalExecutor
    from curator_dedup import FuzzyDeduplicationWorkflow

    root = Path(folder)
    shutil.rmtree(root, ignore_errors=True)
    (root / "in").mkdir(parents=True)
    pool = pa.array(json.loads(Path(sentences).read_text(encoding="utf-8")), pa.large_string())
    draw = np.random.default_rng(0)
    per_file, size = 250_000, 0
    for number in range(0, int(documents), per_file):
        rows = min(per_file, int(documents) - number)
        parts = [pool.take(pa.array(draw.integers(0, len(pool), rows))) for _ in range(4)]
        texts = pa.compute.binary_join_element_wise(*parts, pa.scalar(". ", pa.large_string())).to_numpy(
            zero_copy_only=False
        )
        texts[draw.random(rows) < 0.1] = "one and the same document, over and over again, a million times in all"
        near = np.flatnonzero(draw.random(rows) < 0.05)
        texts[near[1:]] = [f"{text} and more" for text in texts[near[:-1]]]
        table = pa.table({"text": pa.array(texts, pa.large_string())})
        size += table.nbytes
        pq.write_table(table, root / "in" / f"{number:09d}.parquet", row_group_size=50_000)
    watch = PeakMemory()
    started = time.perf_counter()
    workflow = FuzzyDeduplicationWorkflow(
        str(root / "in"), str(root / "cache"), str(root / "out"), word_ngrams=5, num_bands=14, minhashes_per_band=8
    )
    result = workflow.run(LocalExecutor(threads=2))
    seconds = time.perf_counter() - started
    cache = sum(path.stat().st_size for path in (root / "cache").rglob("*") if path.is_file())
    keys = sum(path.stat().st_size for path in (root / "cache" / "keys").iterdir())
    shutil.rmtree(root)
    return {
        "documents": result.documents,
        "removed": result.removed,
        "largest_cluster": result.largest_cluster,
        "megabytes": size / 1e6,
        "seconds": seconds,
        "peak_mb": watch.stop(),
        "cache_bytes_per_document": cache / result.documents,
        "key_bytes_per_document": keys / result.documents,
        "steps": {name: round(each, 1) for name, each in result.steps.seconds.items()},
    }


class PeakMemory:
    """Watches how much memory this process holds."""

    def __init__(self) -> None:
        self._peak = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._is_over.wait(0.05):
            _, resident, shared, *_ = map(int, Path("/proc/self/statm").read_text().split())
            pages = resident - shared
            self._peak = max(self._peak, pages * 4096)

    def stop(self) -> float:
        """Return the peak in megabytes, mapped files not counted."""
        self._is_over.set()
        self._thread.join()
        return self._peak / 1e6


def _cpu_seconds(call):
    started = time.process_time()
    call()
    return time.process_time() - started


CASES = {"signatures": signatures, "fuzzy": fuzzy, "exact": exact, "semantic": semantic, "scale": scale}

if __name__ == "__main__":
    print(json.dumps(CASES[sys.argv[1]](*sys.argv[2:])))
