"""The text benchmarks: their command, corpora, comparison of decisions, and a tiny run without peers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
INDEX = """Package: zeta
Description-md5: 0
Description-en: last letter
 A wrapped
 paragraph.
 .
 Another one:
  * kept as it is

Package: zeta
Description-en: the same package of an update

Package: eta
Description-en: a letter
 Short.
"""


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)


def run(program, *arguments, **environment):
    command = [sys.executable, str(BENCHMARKS / program), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=200, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("program", ["text.py", "text_agreement.py"])
def test_help_names_every_option(program):
    text = run(program, "--help").stdout
    options = {
        "text.py": ["--quick", "--json", "--part", "--peers", "--cache"],
        "text_agreement.py": ["--json", "--part"],
    }
    assert all(option in text for option in options[program])


def test_an_unknown_part_is_refused_with_those_there_are():
    done = run("text.py", "--part", "kernle")
    assert done.returncode == 2
    assert "unknown part kernle" in done.stderr
    assert "end_to_end" in done.stderr


@pytest.mark.slow
def test_the_kernel_part_runs_without_peers():
    done = run("text.py", "--quick", "--json", "--corpus", "builtin", "--peers", "none", "--part", "kernel")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ratios"] == {}
    assert set(report["parts"]["kernel"]) == {"builtin, dropping", "builtin, all"}
    for figures in report["parts"]["kernel"].values():
        assert set(figures) == {"ours, whitespace words", "ours, spaCy-like words", "ours, NeMo Curator's filters"}
        for each in figures.values():
            assert "error" not in each, each
            assert 0 < each["kept"] < each["documents"]
            assert each["mb_per_cpu_s"] > 0


@pytest.mark.slow
def test_a_whole_command_is_timed_and_its_memory_seen(tmp_path):
    from text_comparison.end_to_end import Way
    from text_comparison.run_watch import run_watched
    from text_corpora.json_lines import json_lines

    corpus = json_lines(tmp_path, 200_000, builtin=True)
    way = Way("ours", "ten filters", executor="local")
    figures = run_watched(way.command(corpus.path, tmp_path / "out"))
    assert figures["wall_s"] > 0
    assert figures["peak_rss_mb"] >= figures["peak_pss_mb"] > 0
    rows = [json.loads(line) for path in (tmp_path / "out").glob("*.jsonl") for line in path.read_text().splitlines()]
    assert 0 < len(rows) < corpus.documents


def test_a_command_that_fails_is_reported_with_its_last_words():
    from text_comparison.run_watch import RunFailedError, run_watched

    with pytest.raises(RunFailedError, match="exit code 3: no such thing"):
        run_watched([sys.executable, "-c", "print('no such thing'); raise SystemExit(3)"])


def test_a_child_of_a_command_counts_as_part_of_it():
    from text_comparison.run_watch import run_watched

    big = "import time; data = bytearray(60_000_000); time.sleep(1.5)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {big!r}], check=True)"
    figures = run_watched([sys.executable, "-c", parent])
    assert figures["processes"] >= 2
    assert figures["peak_pss_mb"] >= 60


def test_descriptions_are_unfolded_and_each_package_comes_once(tmp_path):
    from text_corpora.descriptions import short_documents

    lists = tmp_path / "debian" / "lists"
    lists.mkdir(parents=True)
    (lists / "x_i18n_Translation-en").write_text(INDEX)
    (lists / "x_InRelease").write_text("Codename: trixie\nDate: today\n")
    corpus = short_documents(tmp_path)
    assert pq.read_table(corpus.path).to_pylist() == [
        {"id": "zeta", "text": "last letter\nA wrapped paragraph.\n\nAnother one:\n * kept as it is"},
        {"id": "eta", "text": "a letter\nShort."},
    ]
    assert corpus.documents == 2
    (lists / "x_i18n_Translation-en").unlink()
    assert short_documents(tmp_path) == corpus


def test_json_lines_of_one_size_begin_those_of_a_larger_one(tmp_path):
    from text_corpora.json_lines import json_lines

    small, large = (json_lines(tmp_path, size, builtin=True) for size in (500_000, 1_200_000))
    first, second = ((corpus.path / "part-00000.jsonl").read_bytes() for corpus in (small, large))
    assert second.startswith(first[: first.rfind(b"\n")])
    assert 500_000 <= small.size_bytes < 600_000
    records = [json.loads(line) for line in second.splitlines()]
    assert [record["id"] for record in records] == list(range(large.documents))
    assert large.documents > 400  # so that there is a second pass
    by_source = {}
    for record in records:
        by_source.setdefault(record["source"], []).append(record["text"])
    repeated = [texts for texts in by_source.values() if len(texts) > 1 and texts[0].count("\n") > 3]
    assert any(len(set(texts)) > 1 for texts in repeated)
    assert all(sorted(texts[0].split("\n")) == sorted(texts[1].split("\n")) for texts in repeated)


def test_differences_are_counted_by_kind_and_measured_against_what_is_asked_for():
    from text_parity.agreement import compare

    ids = [str(number) for number in range(100)]
    ours = [None] * 99 + ["short"]
    theirs = [None] * 100
    found = compare(("filter", "corpus"), ids, (ours, theirs), min_fraction=0.99, why=["words differ"] * 100)
    assert (found.same_decision, found.fraction, found.is_enough) == (99, 0.99, True)
    assert found.differences == {"ours short, theirs kept; words differ": 1}
    assert found.examples == {"ours short, theirs kept; words differ": ["99"]}
    assert not compare(("filter", "corpus"), ids, (ours, theirs), min_fraction=1.0).is_enough


def test_a_line_is_missed_on_either_side():
    from text_comparison.targets import TARGETS, check

    ratios = {target.ratio: 20.0 for target in TARGETS}
    found = check(ratios)
    assert all(each["is_met"] == (each["min_value"] <= 20.0) for each in found.values() if "min_value" in each)
    assert not any(each["is_met"] for each in found.values() if "max_value" in each)
    assert check({}) == {}
