"""The demo, on a small corpus: what ``make demo`` does after installing."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "demo"


def run(*command):
    result = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, timeout=200)
    assert result.returncode == 0, result.stderr
    return result.stdout


def build_corpus(folder):
    run(sys.executable, DEMO / "build_corpus.py", folder, "--max-mb", "2")
    return sorted(folder.glob("part-*"))


def read_shard(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    build_corpus(folder)
    return folder


def test_corpus_is_the_same_every_time(corpus, tmp_path):
    (tmp_path / "part-00099.jsonl").write_text("left over by an earlier run")
    again = build_corpus(tmp_path)
    assert [path.name for path in again] == [path.name for path in sorted(corpus.glob("part-*"))]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in sorted(corpus.glob("part-*"))]


def test_corpus_holds_documents_with_unique_ids_and_relative_paths(corpus):
    documents = [document for path in sorted(corpus.glob("part-*")) for document in read_shard(path)]
    assert {tuple(document) for document in documents} == {("id", "text", "kind", "path")}
    assert len({document["id"] for document in documents}) == len(documents)
    assert not [document["path"] for document in documents if Path(document["path"]).is_absolute()]
    assert {"manual", "licence"} <= {document["kind"] for document in documents}


def test_pipeline_keeps_some_documents_and_says_why_it_dropped_the_others(corpus, tmp_path):
    variables = ["--set", f"INPUT={corpus}", "--set", f"OUTPUT={tmp_path / 'cleaned'}"]
    pipeline = [sys.executable, "-m", "curator_core", "run", DEMO / "pipeline.yaml", *variables]
    report = json.loads(run(*pipeline, "--json"))
    written = [document for path in (tmp_path / "cleaned").glob("*.jsonl") for document in read_shard(path)]
    read = sum(len(read_shard(path)) for path in corpus.glob("part-*"))
    assert report["rows_in"] == read
    assert report["rows_out"] == len(written)
    assert 0 < len(written) < read
    assert all(document["content_hash"] and document["text"].strip() for document in written)


def test_make_runs_the_demo_with_these_files():
    makefile = (ROOT / "Makefile").read_text()
    assert "examples/demo/build_corpus.py" in makefile
    assert "curator run examples/demo/pipeline.yaml" in makefile
