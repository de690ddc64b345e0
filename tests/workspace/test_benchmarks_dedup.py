"""The deduplication benchmark: its command, its ratios, and a tiny run without peers."""

import json
import os
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def run(*arguments, **environment):
    command = [sys.executable, str(BENCHMARKS / "dedup.py"), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, **environment}
    )


def test_an_unknown_case_is_refused_with_those_there_are():
    done = run("--case", "exakt")
    assert done.returncode == 2
    assert "unknown case exakt" in done.stderr
    assert "semantic" in done.stderr


def test_ratios_compare_the_same_boundaries(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from dedup_comparison.ratios import met, ratios

    cases = {
        "memory web ours verified": {"megabytes": 10, "cpu_seconds": 0.1},
        "files web ours 1 held": {"megabytes": 10, "cpu_seconds": 0.2, "seconds": 0.4},
        "files web ours 2 held": {"megabytes": 10, "cpu_seconds": 0.2, "seconds": 0.25},
        "fuzzy web daft": {"megabytes": 5, "cpu_seconds": 0.2, "cpu_with_files": 0.25},
        "fuzzy web rensa": {"error": "pip cannot install it"},
    }
    found = ratios(cases)
    assert found["memory web, ours verified / daft"] == 4.0
    assert found["files web, ours verified / daft"] == 2.5
    assert found["files web, 2 cores / 1"] == 1.6
    assert not any("rensa" in name for name in found)
    assert met(found) == {
        "memory web, ours verified / daft": True,
        "files web, ours verified / daft": False,
        "files web, 2 cores / 1": False,
    }


def test_the_command_runs_without_peers():
    done = run("--case", "exact", "--fraction", "0.001", "--peers", "none", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert "error" not in report["cases"]["exact"], report
    assert report["cases"]["exact"]["removed"] > 1_000
    assert "exact, from file, ours / polars unique in memory" in report["targets"]


def test_every_case_of_ours_runs_on_a_tiny_corpus(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from dedup_comparison.corpora import sentences, write_corpus
    from dedup_comparison.ours import CASES

    pool = sentences(tmp_path / "corpora", is_builtin=True)
    corpus = tmp_path / "corpus.parquet"
    write_corpus(corpus, pool, size_bytes=100_000, document_bytes=500)
    settings = (str(corpus), "5", "14", "8", "0.8")
    assert CASES["signatures"](str(corpus), "word", "5", "112")["megabytes"] > 0.09
    verified = CASES["memory"](*settings, "verified")
    assert 0 < verified["removed"] <= CASES["memory"](*settings, "unverified")["removed"] < verified["documents"]
    for way in ("held", "read"):
        assert CASES["files"](*settings, "2", way)["removed"] == verified["removed"]
    found = CASES["recall"](*settings, "100")
    assert found["removed_without_partner"] == 0
    assert found["pairs_over_threshold"] > 10
    (tmp_path / "sentences.json").write_text(json.dumps(pool), encoding="utf-8")
    scale = CASES["scale"]("2000", str(tmp_path / "scale"), str(tmp_path / "sentences.json"))
    assert scale["documents"] == 2_000
    assert scale["largest_cluster"] > 100
    vectors = tmp_path / "vectors.npy"
    semantic = CASES["semantic"]("2000", "16", "20", str(vectors))
    assert semantic["found"] == semantic["planted"]
    assert vectors.exists()
