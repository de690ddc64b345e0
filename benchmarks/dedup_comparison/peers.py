"""What each peer does with a corpus: a program for its own environment. Imports are not timed.

A peer is given texts in memory, as Python strings, and says which to remove. None compares candidates exactly. Reading
the texts from a Parquet file and writing what is left to another are timed apart, and are the same for all.

Usage: python peers.py PEER CORPUS NGRAMS BANDS ROWS THRESHOLD. Prints one JSON object.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

_TIMES = 3
"""Runs of which the best counts, as of ours."""


def _cpu_seconds():
    """Return the CPU time of this process and of those it has started and waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Watch:
    """Runs from when it is made."""

    def __init__(self):
        self._started, self._cpu = time.perf_counter(), _cpu_seconds()

    def stop(self):
        """Return the seconds and the CPU seconds since."""
        return time.perf_counter() - self._started, _cpu_seconds() - self._cpu


def rensa(texts, ngrams, bands, rows, threshold):
    from rensa import RMinHash, RMinHashDeduplicator

    watch = Watch()
    kept = RMinHashDeduplicator(threshold=threshold, num_perm=bands * rows, use_lsh=True, num_bands=bands, seed=42)
    removed = set()
    for number, text in enumerate(texts):
        words = text.split()
        shingles = [" ".join(words[at : at + ngrams]) for at in range(max(1, len(words) - ngrams + 1))]
        sketch = RMinHash(num_perm=bands * rows, seed=42)
        sketch.update(shingles)
        if not kept.add(str(number), sketch):
            removed.add(number)
    return *watch.stop(), removed


def datasketch(texts, ngrams, bands, rows, _threshold):
    from datasketch import MinHash, MinHashLSH

    watch = Watch()
    index = MinHashLSH(num_perm=bands * rows, params=(bands, rows))
    removed = set()
    for number, text in enumerate(texts):
        words = text.split()
        sketch = MinHash(num_perm=bands * rows)
        sketch.update_batch(
            [" ".join(words[at : at + ngrams]).encode() for at in range(max(1, len(words) - ngrams + 1))]
        )
        if any(True for _ in index.query(sketch)):
            removed.add(number)
        else:
            index.insert(str(number), sketch, check_duplication=False)
    return *watch.stop(), removed


def daft(texts, ngrams, bands, rows, _threshold):
    """Signatures by daft, clusters by sorting and union-find: what a careful user would write around it."""
    import daft as package
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    package.get_or_create_runner()  # the native one, unless told otherwise
    frame = package.from_pydict({"text": texts})
    watch = Watch()
    column = package.col("text").minhash(num_hashes=bands * rows, ngram_size=ngrams, seed=42, hash_function="xxhash")
    signatures = frame.select(column.alias("s")).to_arrow()["s"].combine_chunks()
    matrix = signatures.flatten().to_numpy().reshape(len(texts), bands, rows)
    edges = []
    for band in range(bands):
        keys = np.ascontiguousarray(matrix[:, band]).view(f"V{matrix.itemsize * rows}").ravel()
        order = np.argsort(keys)
        same = keys[order][1:] == keys[order][:-1]
        edges.append(np.stack([order[:-1][same], order[1:][same]]))
    first, second = np.concatenate(edges, axis=1)
    graph = coo_matrix((np.ones(len(first)), (first, second)), shape=(len(texts), len(texts)))
    _, labels = connected_components(graph, directed=False)
    _, kept = np.unique(labels, return_index=True)
    removed = set(range(len(texts))).difference(kept.tolist())
    return *watch.stop(), removed


def datatrove(texts, ngrams, bands, rows, _threshold):
    from datatrove.data import Document
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.base import PipelineStep
    from datatrove.pipeline.dedup import MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets
    from datatrove.utils.word_tokenizers import WhitespaceTokenizer

    WhitespaceTokenizer.word_tokenize = lambda _self, text: text.split()  # what its name says

    class Source(PipelineStep):
        def run(self, data=None, rank=0, world_size=1):  # noqa: ARG002 - its contract
            for number, text in enumerate(texts):
                yield Document(text=text, id=str(number))

    kept = set()

    class Collect(PipelineStep):
        def run(self, data, rank=0, world_size=1):  # noqa: ARG002 - its contract
            kept.update(int(document.id) for document in data)
            yield from ()

    import datatrove.pipeline.dedup.minhash as module

    module.load_word_tokenizer = lambda _language: WhitespaceTokenizer()
    config = MinhashConfig(n_grams=ngrams, num_buckets=bands, hashes_per_bucket=rows, seed=42)
    with tempfile.TemporaryDirectory() as folder:

        def run(name, *steps, tasks=1):
            executor = LocalPipelineExecutor([*steps], tasks=tasks, workers=1, logging_dir=f"{folder}/logs/{name}")
            executor.run()

        watch = Watch()
        run("sign", Source(), MinhashDedupSignature(f"{folder}/s", config=config, language="english"))
        run("buckets", MinhashDedupBuckets(f"{folder}/s", f"{folder}/b", config=config), tasks=bands)
        run("cluster", MinhashDedupCluster(f"{folder}/b", f"{folder}/r", config=config))
        run("filter", Source(), MinhashDedupFilter(f"{folder}/r"), Collect())
        times = watch.stop()
    return *times, set(range(len(texts))) - kept


def text_dedup(texts, ngrams, bands, rows, _threshold):
    """Its signatures and its union-find, put together as its command does it, without its data sets on disk."""
    import numpy as np
    from text_dedup.minhash import SIGNATURE_COLUMN, embed_func
    from text_dedup.utils import UnionFind, xxh3_32hash

    prime = np.uint32((1 << 32) - 5)
    draw = np.random.RandomState(42)
    settings = {
        "num_perm": bands * rows,
        "ngram_size": ngrams,
        "min_length": 1,
        "hashranges": [(band * rows, (band + 1) * rows) for band in range(bands)],
        "permutations": tuple(draw.randint(low, prime, size=bands * rows, dtype=np.uint32) for low in (1, 0)),
        "hash_func": xxh3_32hash,
        "dtype": np.uint32,
        "max_hash": np.uint32((1 << 32) - 1),
        "modulo_prime": prime,
    }
    watch = Watch()
    tables = [{} for _ in range(bands)]
    for number, text in enumerate(texts):
        for table, key in zip(tables, embed_func(text, number, **settings)[SIGNATURE_COLUMN], strict=True):
            table.setdefault(key, []).append(number)
    clusters = UnionFind()
    for table in tables:
        for members in table.values():
            for member in members[1:]:
                clusters.union(members[0], member)
    removed = {number for number in list(clusters.parent) if clusters.find(number) != number}
    return *watch.stop(), removed


PEERS = {
    "rensa": rensa,
    "datasketch": datasketch,
    "daft": daft,
    "datatrove": datatrove,
    "text_dedup": text_dedup,
}


def main() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    peer, corpus, ngrams, bands, rows, threshold = sys.argv[1:]
    started, cpu_started = time.perf_counter(), _cpu_seconds()
    table = pq.read_table(Path(corpus))
    texts = table["text"].to_pylist()
    read_seconds, cpu_read = time.perf_counter() - started, _cpu_seconds() - cpu_started
    runs = [PEERS[peer](texts, int(ngrams), int(bands), int(rows), float(threshold)) for _ in range(_TIMES)]
    seconds, cpu = (min(run[index] for run in runs) for index in range(2))
    removed = runs[-1][2]
    started, cpu_started = time.perf_counter(), _cpu_seconds()
    with tempfile.TemporaryDirectory() as folder:
        left = table.filter(pa.array([number not in removed for number in range(len(texts))]))
        pq.write_table(left, f"{folder}/out.parquet", compression="zstd")
    write_seconds, cpu_write = time.perf_counter() - started, _cpu_seconds() - cpu_started
    report = {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "cpu_with_files": cpu_read + cpu + cpu_write,
        "read_seconds": read_seconds,
        "write_seconds": write_seconds,
        "removed": len(removed),
        "documents": len(texts),
        "megabytes": sum(len(text.encode()) for text in texts) / 1e6,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
