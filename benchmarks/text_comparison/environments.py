"""The peers of the text benchmarks, each in a virtual environment of its own."""

from __future__ import annotations

from engine_comparison.environments import Engine

PEERS = {
    "datatrove": Engine(
        "",
        "datatrove 0.10.1",
        "datatrove",
        # It breaks with xxhash 4; the others are what its readers, filters and extractors import when they run.
        (
            "datatrove==0.10.1",
            "xxhash<4",
            "spacy",
            "regex",
            "tldextract",
            "ftfy",
            "fasteners",
            "orjson",
            "pyarrow",
            "trafilatura",
            "inscriptis",
        ),
    ),
    "nemo": Engine(
        "",
        "NeMo Curator 1.4.0",
        "nemo",
        # Of its extra for text only what its filters import: the rest would have to be compiled.
        ("nemo-curator==1.4.0", "torch==2.13.0", "sentencepiece", "beautifulsoup4", "lxml", "ftfy"),
    ),
    "data_juicer": Engine(
        "",
        "data-juicer 1.6.1",
        "data_juicer",
        # aiohttp and Ray it would install by itself, at run time.
        ("py-data-juicer==1.6.1", "torch==2.13.0", "aiohttp", "ray=={ray}"),
    ),
}
