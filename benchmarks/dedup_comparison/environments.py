"""The peers of the deduplication benchmark, each in a virtual environment of its own."""

from __future__ import annotations

from engine_comparison.environments import Engine

_LIBRARIES = ("rensa==0.5.0", "daft==0.7.26", "datasketch==2.0.0", "pyarrow", "scipy", "scikit-learn")
PEERS = {
    "rensa": Engine("", "rensa 0.5, its deduplicator", "dedup_peers", _LIBRARIES),
    "daft": Engine("", "daft 0.7 signatures, clusters by sorting", "dedup_peers", _LIBRARIES),
    "datasketch": Engine("", "datasketch 2.0", "dedup_peers", _LIBRARIES),
    "datatrove": Engine(
        "",
        "datatrove 0.10.1, words by str.split",
        "datatrove_dedup",
        # It breaks with xxhash 4; the others are what its steps import when they run.
        ("datatrove==0.10.1", "xxhash<4", "spacy", "regex", "orjson", "pyarrow", "fasteners", "tokenizers"),
    ),
    # It requires Spark and a documentation generator, among others: its environment is large.
    "text_dedup": Engine("", "text-dedup 0.4.0", "text_dedup", ("text-dedup==0.4.0", "pyarrow")),
}
SCIKIT_LEARN = Engine("", "scikit-learn's MiniBatchKMeans and numpy", "dedup_peers", _LIBRARIES)
