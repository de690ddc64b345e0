"""Our side of the text cases. Imports and compilation are not timed."""

from __future__ import annotations

import random
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curator_core.authoring.column_bytes import column_bytes
from dedup_comparison.measuring import best, megabytes, timed

WARM = ["warm up the kernels, all of them, with more than five words"] * 2


def signatures(corpus, unit, ngrams, hashes):
    """Signatures alone, in one thread: megabytes per CPU second."""
    from curator_dedup.minhash.scheme import MinhashScheme
    from curator_dedup.minhash.signing import sign

    texts = pq.read_table(corpus, columns=["text"])["text"]
    column = column_bytes(texts)
    scheme = MinhashScheme(unit=unit, ngrams=int(ngrams), num_hashes=int(hashes))
    sign(column_bytes(pa.array(WARM)), scheme)
    _, cpu, _ = best(lambda: sign(column, scheme))
    return {"megabytes": megabytes(texts), "cpu_seconds": cpu}


def memory(corpus, ngrams, bands, rows, threshold, verify):
    """Texts in memory, as Arrow, to a table of duplicates: what the peers are given and return."""
    from curator_dedup import find_near_duplicates

    options = {
        "word_ngrams": int(ngrams),
        "num_bands": int(bands),
        "minhashes_per_band": int(rows),
        "threshold": float(threshold),
        "verify": verify == "verified",
    }
    texts = pq.read_table(corpus, columns=["text"])["text"].combine_chunks()
    find_near_duplicates(WARM, **options)
    seconds, cpu, found = best(lambda: find_near_duplicates(texts, **options))
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "removed": len(found),
        "documents": len(texts),
        "megabytes": megabytes(texts),
    }


def files(corpus, ngrams, bands, rows, threshold, threads, held):
    """The whole job: from the file to the files that are left and the table of duplicates, verified, synced to disk."""
    from curator_core import LocalExecutor
    from curator_dedup import FuzzyDeduplicationWorkflow

    def run(source):
        with tempfile.TemporaryDirectory() as folder:
            workflow = FuzzyDeduplicationWorkflow(
                source,
                f"{folder}/cache",
                f"{folder}/out",
                id_column="id",
                word_ngrams=int(ngrams),
                num_bands=int(bands),
                minhashes_per_band=int(rows),
                threshold=float(threshold),
                block_bytes=8 << 20,
                in_memory_bytes=1 << 29 if held == "held" else 0,
            )
            return timed(lambda: workflow.run(LocalExecutor(threads=int(threads))))

    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.table({"id": ["a", "b"], "text": WARM}), f"{folder}/w.parquet")
        run(f"{folder}/w.parquet")
        # Row groups are the units of work: as many as threads can share.
        table = pq.read_table(corpus)
        pq.write_table(table, f"{folder}/c.parquet", row_group_size=max(1, len(table) // 12))
        # The best of three of each, as of the peers.
        runs = sorted((run(f"{folder}/c.parquet") for _ in range(3)), key=lambda each: each[0])
        seconds, _, result = runs[0]
    return {
        "seconds": seconds,
        "cpu_seconds": min(cpu for _, cpu, _ in runs),
        "removed": result.removed,
        "documents": len(table),
        "megabytes": megabytes(table["text"]),
        "steps": {name: round(each, 3) for name, each in result.steps.seconds.items()},
    }


def recall(corpus, ngrams, bands, rows, threshold, pairs):
    """Pairs of known similarity: how many meet in a band, over five seeds, in deviations from what theory expects."""
    from curator_dedup import find_near_duplicates
    from curator_dedup.fuzzy.band_records import band_records
    from curator_dedup.minhash.scheme import MinhashScheme

    ngrams, bands, rows, threshold = int(ngrams), int(bands), int(rows), float(threshold)
    draw = random.Random(0)
    texts = []
    for text in pq.read_table(corpus, columns=["text"])["text"].slice(0, int(pairs)).to_pylist():
        words = text.split()
        changed = list(words)
        for place in draw.sample(range(len(words)), draw.randint(0, max(1, len(words) // 20))):
            changed[place] = f"w{draw.random()}"
        texts += [" ".join(words), " ".join(changed)]
    sets = [_shingles(text, ngrams) for text in texts]
    similarity = np.array([_jaccard(sets[at], sets[at + 1]) for at in range(0, len(sets), 2)])
    is_over = similarity >= threshold
    chance = 1 - (1 - similarity[is_over] ** rows) ** bands
    deviation = np.sqrt((chance * (1 - chance)).sum())
    column = column_bytes(pa.array(texts))
    found, deviations = [], []
    for seed in range(5):
        scheme = MinhashScheme(unit="word", ngrams=ngrams, num_hashes=bands * rows, seed=seed)
        keys = band_records(column, scheme, bands)[0].reshape(len(texts), bands + 1)[:, :bands]
        together = (keys[0::2] == keys[1::2]).any(axis=1)[is_over].sum()
        found.append(float(together / is_over.sum()))
        deviations.append(float((together - chance.sum()) / deviation))
    result = find_near_duplicates(
        texts, word_ngrams=ngrams, num_bands=bands, minhashes_per_band=rows, threshold=threshold
    )
    removed = result["document"].to_pylist()
    alone = sum(not _has_partner(each, sets, threshold) for each in removed)
    return {
        "pairs_over_threshold": int(is_over.sum()),
        "recall_expected": float(chance.mean()),
        "recall_found": found,
        "deviations": deviations,
        "mean_deviation": float(np.mean(deviations)),
        "removed": len(removed),
        "removed_without_partner": alone,
    }


def _shingles(text, ngrams):
    words = text.split()
    return {tuple(words[at : at + ngrams]) for at in range(max(1, len(words) - ngrams + 1))}


def _has_partner(number, sets, threshold):
    """Return whether a text has any other over the threshold; the one beside it is looked at first."""
    others = [number ^ 1, *range(len(sets))]
    return any(other != number and _jaccard(sets[number], sets[other]) >= threshold for other in others)


def _jaccard(one, other):
    return len(one & other) / len(one | other)
