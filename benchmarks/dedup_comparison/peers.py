"""What each peer does with a corpus: a program for its own environment. Imports are not timed.

Usage: python peers.py PEER CORPUS NGRAMS BANDS ROWS THRESHOLD. Prints one JSON object.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path


def rensa(texts, ngrams, bands, rows, threshold):
    from rensa import RMinHash, RMinHashDeduplicator

    started = time.perf_counter()
    kept = RMinHashDeduplicator(threshold=threshold, num_perm=bands * rows, use_lsh=True, num_bands=bands, seed=42)
    removed = 0
    for number, text in enumerate(texts):
        words = text.split()
        shingles = [" ".join(words[at : at + ngrams]) for at in range(max(1, len(words) - ngrams + 1))]
        sketch = RMinHash(num_perm=bands * rows, seed=42)
        sketch.update(shingles)
        removed += not kept.add(str(number), sketch)
    return time.perf_counter() - started, removed


def datasketch(texts, ngrams, bands, rows, _threshold):
    from datasketch import MinHash, MinHashLSH

    started = time.perf_counter()
    index = MinHashLSH(num_perm=bands * rows, params=(bands, rows))
    removed = 0
    for number, text in enumerate(texts):
        words = text.split()
        sketch = MinHash(num_perm=bands * rows)
        sketch.update_batch(
            [" ".join(words[at : at + ngrams]).encode() for at in range(max(1, len(words) - ngrams + 1))]
        )
        if any(True for _ in index.query(sketch)):
            removed += 1
        else:
            index.insert(str(number), sketch, check_duplication=False)
    return time.perf_counter() - started, removed


def daft(texts, ngrams, bands, rows, _threshold):
    """Signatures by daft, clusters by sorting and union-find: what a careful user would write around it."""
    import daft as package
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    package.set_runner_native()
    frame = package.from_pydict({"text": texts})
    started = time.perf_counter()
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
    groups, _ = connected_components(graph, directed=False)
    return time.perf_counter() - started, len(texts) - groups


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

    class Count(PipelineStep):
        total = 0

        def run(self, data, rank=0, world_size=1):  # noqa: ARG002 - its contract
            for _ in data:
                Count.total += 1
            yield from ()

    import datatrove.pipeline.dedup.minhash as module

    module.load_word_tokenizer = lambda _language: WhitespaceTokenizer()
    config = MinhashConfig(n_grams=ngrams, num_buckets=bands, hashes_per_bucket=rows, seed=42)
    with tempfile.TemporaryDirectory() as folder:

        def run(name, *steps, tasks=1):
            executor = LocalPipelineExecutor([*steps], tasks=tasks, workers=1, logging_dir=f"{folder}/logs/{name}")
            executor.run()

        started = time.perf_counter()
        run("sign", Source(), MinhashDedupSignature(f"{folder}/s", config=config, language="english"))
        run("buckets", MinhashDedupBuckets(f"{folder}/s", f"{folder}/b", config=config), tasks=bands)
        run("cluster", MinhashDedupCluster(f"{folder}/b", f"{folder}/r", config=config))
        run("filter", Source(), MinhashDedupFilter(f"{folder}/r"), Count())
        seconds = time.perf_counter() - started
    return seconds, len(texts) - Count.total


PEERS = {"rensa": rensa, "datasketch": datasketch, "daft": daft, "datatrove": datatrove}


def main() -> None:
    import pyarrow.parquet as pq

    peer, corpus, ngrams, bands, rows, threshold = sys.argv[1:]
    texts = pq.read_table(Path(corpus), columns=["text"])["text"].to_pylist()
    size = sum(len(text.encode()) for text in texts)
    seconds, removed = PEERS[peer](texts, int(ngrams), int(bands), int(rows), float(threshold))
    print(json.dumps({"seconds": seconds, "removed": removed, "documents": len(texts), "megabytes": size / 1e6}))


if __name__ == "__main__":
    main()
