"""Scores to buckets, sampling by weight, shuffling, routing, blending and statistics."""

import collections
import itertools
import json
import math

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.errors import ConfigError, StageError
from curator_text import (
    Blend,
    DocumentBatch,
    Partition,
    ReadJsonl,
    Resample,
    ScoreBuckets,
    Shuffle,
    Statistics,
    WriteJsonl,
    WriteRouted,
)
from curator_text.mixing.blend import BlendSource, blend_rates
from curator_text.mixing.write_routed import folder_of


def rows_of(stage, table):
    out = stage.process(DocumentBatch(data=table, task_id="7"))
    return [] if out is None else out.data.to_pylist()


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_lines(folder):
    return [json.loads(line) for path in sorted(folder.rglob("*.jsonl")) for line in path.read_text().splitlines()]


# --- buckets

SCORES = st.none() | st.floats(-1, 6) | st.just(math.nan)


@given(
    rows=st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=6), combine=st.sampled_from(["mean", "max", "min"])
)
def test_scores_are_combined_row_by_row(rows, combine):
    table = pa.table(
        {"a": pa.array([a for a, _ in rows], pa.float64()), "b": pa.array([b for _, b in rows], pa.float64())}
    )
    stage = ScoreBuckets(["a", "b"], combine=combine, ranges={"a": [0, 5]}, buckets={"good": 0.5, "bad": -0.5})
    combined = {"mean": lambda known: sum(known) / len(known), "max": max, "min": min}[combine]
    for (a, b), row in zip(rows, rows_of(stage, table), strict=True):
        known = [min(max(a / 5, 0), 1)] if a is not None and not math.isnan(a) else []
        known += [b] if b is not None and not math.isnan(b) else []
        if not known:
            assert row["score"] is None
            assert row["bucket"] is None
            continue
        assert row["score"] == pytest.approx(combined(known))
        assert row["bucket"] == ("good" if row["score"] >= 0.5 else "bad" if row["score"] >= -0.5 else None)


def test_weights_leave_missing_scores_out_of_the_mean():
    table = pa.table({"a": [1.0, 1.0, None], "b": [0.0, None, None]})
    stage = ScoreBuckets({"a": 3, "b": 1}, score_column="s", column="q")
    assert [(row["s"], row["q"]) for row in rows_of(stage, table)] == [(0.75, "high"), (1.0, "high"), (None, None)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": []}, "at least one"),
        ({"scores": {"a": 1}, "combine": "max"}, "weights are for the mean"),
        ({"scores": {"a": 0}}, "not all zero"),
        ({"scores": ["a"], "buckets": {"x": 0, "y": 0}}, "same score"),
        ({"scores": ["a"], "ranges": {"a": [5, 0]}}, "the range of 'a'"),
        ({"scores": ["a"], "ranges": {"b": [0, 5]}}, "the range of 'b'"),
    ],
)
def test_wrong_buckets_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        ScoreBuckets(**options)


def test_ranks_come_from_statistics(tmp_path):
    values = [number**3 / 1000 for number in range(1, 1001)]
    batch = DocumentBatch(data={"quality": values})
    statistics = Statistics(str(tmp_path / "s"), measures=[], columns=["quality"])
    Pipeline(stages=[statistics]).run(LocalExecutor(), initial_tasks=[batch])
    stage = ScoreBuckets(["quality"], ranks=str(tmp_path / "s"), buckets={"rest": 0, "top": 0.9})
    out = rows_of(stage, batch.data)
    assert all(abs(row["score"] - number / 1000) < 0.03 for number, row in enumerate(out, start=1))
    assert abs(sum(row["bucket"] == "top" for row in out) - 100) < 30
    with pytest.raises(ConfigError, match="no statistics of 'other'"):
        ScoreBuckets(["other"], ranks=str(tmp_path / "s")).preflight()
    with pytest.raises(StageError, match="not numbers"):
        rows_of(ScoreBuckets(["t"]), pa.table({"t": ["x"]}))


# --- sampling and order


def identified(count, **columns):
    return pa.table({"_source": ["f.jsonl"] * count, "_row": list(range(count)), **columns})


def test_weights_repeat_and_thin_out():
    table = identified(3000, bucket=["high", "low", None] * 1000)
    out = rows_of(Resample({"high": 2.5, "low": 0.2}), table)
    counts = collections.Counter(row["bucket"] for row in out)
    assert abs(counts["high"] - 2500) < 80
    assert abs(counts["low"] - 200) < 50
    assert counts[None] == 1000
    copies = collections.Counter((row["_row"], row["copy"]) for row in out)
    assert set(copies.values()) == {1}
    assert [row["_row"] for row in out] == sorted(row["_row"] for row in out)
    assert rows_of(Resample({"high": 0}, default=0), table) == []


@settings(max_examples=40)
@given(weights=st.dictionaries(st.sampled_from(["a", "b"]), st.floats(0, 3), min_size=1), seed=st.integers(0, 5))
def test_resampling_does_not_depend_on_batches(weights, seed):
    table = identified(20, bucket=["a", "b"] * 10)
    stage = Resample(weights, seed=seed)
    assert rows_of(stage, table) == [row for at in range(20) for row in rows_of(stage, table.slice(at, 1))]


def test_thinning_out_a_sample_with_the_same_seed_is_a_fresh_draw():
    from curator_core.stages.sample import Sample

    sample = Sample(share=0.2, seed=1).process(DocumentBatch(data=identified(5000, bucket=["x"] * 5000)))
    assert abs(len(rows_of(Resample({"x": 0.2}, seed=1), sample.data)) - 200) < 60


def test_shuffling_is_a_permutation_that_depends_on_the_seed():
    table = identified(500)
    orders = [[row["_row"] for row in rows_of(Shuffle(seed=seed), table)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(500)) != orders[0]
    again = [row["_row"] for row in rows_of(Shuffle(), table.take(list(reversed(range(500)))))]
    assert again == orders[0]


def test_a_whole_corpus_is_shuffled_in_two_passes(tmp_path):
    for part in range(4):
        write_lines(
            tmp_path / "in" / f"{part}.jsonl", [{"text": str(number)} for number in range(part * 250, part * 250 + 250)]
        )
    read = ReadJsonl(str(tmp_path / "in"), block_bytes=2000)
    Pipeline(stages=[read, Partition(5), WriteRouted(str(tmp_path / "parted"), column="partition")]).run(
        LocalExecutor()
    )
    second = [ReadJsonl(str(tmp_path / "parted")), Shuffle(), WriteJsonl(str(tmp_path / "out"), columns=["text"])]
    Pipeline(stages=second).run(LocalExecutor())
    order = [int(row["text"]) for row in read_lines(tmp_path / "out")]
    assert sorted(order) == list(range(1000))
    neighbours = sum(abs(one - other) < 50 for one, other in itertools.pairwise(order))
    assert neighbours < 200  # about 100 by chance, and nearly all in the order of the files
    assert len({number // 250 for number in order[:50]}) == 4


# --- routing


def test_each_value_has_its_folder(tmp_path):
    table = pa.table({"text": ["a", "b", "c", "d", "e"], "lang": ["en", "de", "en", None, "a/b"]})
    stage = WriteRouted(str(tmp_path), column="lang", columns=["text"])
    out = stage.process(DocumentBatch(data=table, task_id="3f2a/0"))
    written = {path.parent.name: [row["text"] for row in read_lines(path.parent)] for path in tmp_path.rglob("*.jsonl")}
    assert written == {"en": ["a", "c"], "de": ["b"], "(null)": ["d"], "a%2Fb": ["e"]}
    assert sorted(out.paths) == sorted(str(path) for path in tmp_path.rglob("*.jsonl"))
    assert out.meta["rows"] == 5
    assert {path.name for path in tmp_path.rglob("*.jsonl")} == {"part-3f2a-0.jsonl"}
    assert [row["text"] for row in read_lines_with_reader(tmp_path)] == ["d", "e", "b", "a", "c"]


def read_lines_with_reader(folder):
    result = Pipeline(stages=[ReadJsonl(str(folder))]).run(LocalExecutor())
    return [row for task in result for row in task.data.to_pylist()]


def test_output_of_a_source_task_is_removed_from_all_folders(tmp_path):
    stage = WriteRouted(str(tmp_path), column="n", format="parquet")
    for task_id in ("aa/0", "aa/1", "bb"):
        stage.process(DocumentBatch(data={"n": [1, 2]}, task_id=task_id))
    assert len(list(tmp_path.rglob("*.parquet"))) == 6
    stage.remove_output(["aa"], only_torn=True)
    assert len(list(tmp_path.rglob("*.parquet"))) == 6
    stage.remove_output(["aa"], only_torn=False)
    assert {path.name for path in tmp_path.rglob("*.parquet")} == {"part-bb.parquet"}
    WriteRouted(str(tmp_path / "gone")).remove_output(["aa"], only_torn=False)


def test_a_routed_run_is_resumed_with_the_same_files(tmp_path):
    for part in range(3):
        write_lines(
            tmp_path / "in" / f"{part}.jsonl",
            [{"text": f"{part}{n}", "bucket": "hi" if n % 2 else "lo"} for n in range(4)],
        )

    def run(name, **options):
        stages = [ReadJsonl(str(tmp_path / "in"), block_bytes=100), WriteRouted(str(tmp_path / name))]
        return Pipeline(stages=stages).run(LocalExecutor(), run_dir=tmp_path / f"{name}-run", **options)

    run("whole")
    run("again")
    lost = min((tmp_path / "again").rglob("*.jsonl"))
    lost.unlink()
    run("again", resume="changed")
    files = {path.relative_to(tmp_path / "whole"): path.read_bytes() for path in (tmp_path / "whole").rglob("*.jsonl")}
    assert {
        path.relative_to(tmp_path / "again"): path.read_bytes() for path in (tmp_path / "again").rglob("*.jsonl")
    } == files
    assert {path.parent.name for path in files} == {"hi", "lo"}


@given(values=st.lists(st.none() | st.text(), unique=True))
def test_different_values_have_different_folders(values):
    names = [folder_of(value) for value in values]
    assert len(set(names)) == len(values)
    assert all(
        name not in ("", ".", "..") and "/" not in name and name[0] not in "._" and len(name) < 200 for name in names
    )


def test_values_that_cannot_name_folders_are_errors(tmp_path):
    with pytest.raises(StageError, match="holds Float64"):
        WriteRouted(str(tmp_path), column="x").process(DocumentBatch(data={"x": [0.5]}, task_id="1"))
    with pytest.raises(StageError, match="3 values in a batch"):
        WriteRouted(str(tmp_path), column="x", max_values=2).process(DocumentBatch(data={"x": [1, 2, 3]}, task_id="1"))
    with pytest.raises(ConfigError, match="compression"):
        WriteRouted(str(tmp_path), format="parquet", compression="gz")


# --- blending


@pytest.fixture
def sources(tmp_path):
    write_lines(
        tmp_path / "web" / "a.jsonl", [{"text": f"web {number:06d}", "n": 1000 + number % 10} for number in range(6000)]
    )
    write_lines(
        tmp_path / "books" / "b.jsonl",
        [{"text": f"book {number:05d}", "n": 1000 + number % 10} for number in range(1000)],
    )
    pl.DataFrame({"text": [f"code {number:05d}" for number in range(500)], "lang": ["c"] * 500}).write_parquet(
        tmp_path / "code.parquet", row_group_size=50
    )
    return {
        "web": BlendSource(str(tmp_path / "web"), weight=2),
        "books": BlendSource(str(tmp_path / "books")),
    }


def blended(sources, **options):
    result = Pipeline(stages=[Blend(sources, **options)]).run(LocalExecutor())
    return [task.data.to_pylist() for task in result]


def test_the_smaller_source_is_read_whole_and_the_other_thinned_out(sources):
    batches = blended(sources, block_bytes=20_000)
    counts = collections.Counter(row["blend_source"] for batch in batches for row in batch)
    assert counts["books"] == 1000
    assert abs(counts["web"] - 2000) < 250  # seven standard deviations: the draw depends on the path of the files
    assert len(batches) > 3
    for batch in batches:  # the mixture is the same in every batch, and mixed inside it
        share = sum(row["blend_source"] == "books" for row in batch) / len(batch)
        assert 0.2 < share < 0.5
        half = [row["blend_source"] for row in batch[: len(batch) // 2]]
        assert 0.15 < half.count("books") / len(half) < 0.55
    assert blended(sources, block_bytes=20_000) == batches
    assert blended(sources, block_bytes=20_000, seed=1) != batches


def test_rows_are_repeated_until_the_largest_source_is_used_up(sources):
    rows = [row for batch in blended(sources, until="all_exhausted", copy_column="copy") for row in batch]
    counts = collections.Counter(row["blend_source"] for row in rows)
    assert counts["web"] == 6000
    assert counts["books"] == 3000
    assert {row["copy"] for row in rows if row["blend_source"] == "books"} >= {0, 1, 2}


def test_a_target_and_sources_with_other_columns_and_formats(sources, tmp_path):
    sources = {**sources, "code": BlendSource(str(tmp_path / "code.parquet"), weight=1, format="parquet")}
    rows = [row for batch in blended(sources, target_bytes=60_000, block_bytes=8_000) for row in batch]
    assert {row["blend_source"] for row in rows} == {"web", "books", "code"}
    assert {row["lang"] for row in rows if row["blend_source"] == "code"} == {"c"}
    assert {row["n"] for row in rows if row["blend_source"] == "code"} == {None}
    assert len({(row["_source"], row["_row"]) for row in rows if row["blend_source"] == "web"}) > 500
    only_text = blended(sources, target_bytes=60_000, columns=["text"], source_column=None)
    assert set(only_text[0][0]) == {"text", "_source", "_row"}


@given(
    sizes=st.lists(st.integers(0, 10**9), min_size=1, max_size=4),
    weights=st.lists(st.floats(0.01, 100), min_size=4, max_size=4),
    until=st.sampled_from(["first_exhausted", "all_exhausted"]),
)
def test_rates_give_the_proportions_asked_for(sizes, weights, until):
    named = {str(at): size for at, size in enumerate(sizes)}
    wanted = dict(zip(named, weights, strict=False))
    rates = blend_rates(named, wanted, until=until)
    amounts = {name: rates[name] * size / wanted[name] for name, size in named.items() if size}
    if amounts:
        assert max(amounts.values()) == pytest.approx(min(amounts.values()))
        extreme = max if until == "first_exhausted" else min
        assert extreme(rates[name] for name in amounts) == pytest.approx(1)
    assert all(rates[name] == 0 for name, size in named.items() if not size)


def test_wrong_blends_are_refused(sources, tmp_path):
    with pytest.raises(ConfigError, match="weights above zero"):
        Blend({"x": BlendSource("x", weight=0)})
    with pytest.raises(ConfigError, match="gone"):
        Blend({"x": BlendSource(str(tmp_path / "gone"))}).preflight()


# --- statistics


def test_statistics_by_group_are_merged_when_the_run_ends(tmp_path):
    for part in range(3):
        rows = [
            {"text": "w " * (number + 1), "lang": "en" if number % 3 else "de", "q": number / 10}
            for number in range(100)
        ]
        write_lines(tmp_path / "in" / f"{part}.jsonl", rows)
    stage = Statistics(str(tmp_path / "s"), columns=["q"], expressions={"half": "q / 2"}, by="lang")
    stages = [ReadJsonl(str(tmp_path / "in"), block_bytes=3000), stage, WriteJsonl(str(tmp_path / "out"))]
    result = Pipeline(stages=stages).run(LocalExecutor(threads=2))
    assert sum(task.num_items for task in result) == 300
    summary = json.loads((tmp_path / "s" / "summary.json").read_text())
    assert summary["rows"] == 300
    assert {group: content["rows"] for group, content in summary["groups"].items()} == {
        "(all)": 300,
        "en": 198,
        "de": 102,
    }
    metrics = summary["groups"]["(all)"]["metrics"]
    assert set(metrics) == {"bytes", "chars", "words", "lines", "q", "half"}
    words = metrics["words"]
    assert (words["count"], words["min"], words["max"], words["mean"]) == (300, 1, 100, 50.5)
    assert words["p50"] == pytest.approx(50, rel=0.04)
    assert words["p99"] == pytest.approx(99, rel=0.04)
    assert sum(count for _, count in words["histogram"]) == 300
    assert metrics["half"]["max"] == pytest.approx(9.9 / 2)
    text = (tmp_path / "s" / "summary.txt").read_text()
    assert "lang = de: 102" in text
    assert "words" in text


def test_statistics_leave_rows_alone_and_count_what_has_no_number(tmp_path):
    table = pa.table({"q": pa.array([1.0, None, math.nan, math.inf], pa.float64()), "text": ["a", None, "", "b\nc"]})
    batch = DocumentBatch(data=table)
    stage = Statistics(str(tmp_path), columns=["q"], measures=["lines"])
    (out,) = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    assert out.data is table
    metrics = json.loads((tmp_path / "summary.json").read_text())["groups"]["(all)"]["metrics"]
    assert metrics["q"] == {**metrics["q"], "count": 1, "nulls": 3, "mean": 1.0}
    assert (metrics["lines"]["count"], metrics["lines"]["nulls"], metrics["lines"]["max"]) == (3, 1, 2)


def test_statistics_of_nothing_and_in_a_preview(tmp_path, capsys):
    from curator_core.cli import main

    write_lines(tmp_path / "in.jsonl", [{"text": "a"}])
    pipeline = tmp_path / "p.yaml"
    stages = f"""version: 1
stages:
  - text.read_jsonl: {{paths: {tmp_path / "in.jsonl"}}}
  - core.where: {{expression: "length(text) > 1"}}
  - text.statistics: {{path: {tmp_path / "s"}}}
  - text.write_jsonl: {{path: {tmp_path / "out"}}}
executor: local
"""
    pipeline.write_text(stages)
    assert main(["run", str(pipeline), "--quiet"]) == 0
    assert json.loads((tmp_path / "s" / "summary.json").read_text()) == {"rows": 0, "by": None, "groups": {}}
    pipeline.write_text(stages.replace("> 1", "> 0"))
    assert main(["preview", str(pipeline)]) == 0
    printed = capsys.readouterr().out
    assert "text.statistics: not run in a preview" in printed
    assert "result: 1 row" in printed
    assert not list((tmp_path / "s" / "parts").iterdir())


def test_rare_groups_are_counted_together(tmp_path):
    values = ["a"] * 3 + ["b"] * 2 + ["c", "d", None]
    batch = DocumentBatch(data={"text": ["x"] * 8, "g": values})
    Pipeline(stages=[Statistics(str(tmp_path), by="g", max_groups=3)]).run(LocalExecutor(), initial_tasks=[batch])
    groups = json.loads((tmp_path / "summary.json").read_text())["groups"]
    assert {name: content["rows"] for name, content in groups.items()} == {"(all)": 8, "a": 3, "(other)": 3, "b": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": []}, "nothing to measure"),
        ({"columns": ["words"]}, "same name"),
        ({"expressions": {"x": "sum(q)"}}, "more than one row"),
    ],
)
def test_wrong_statistics_are_refused(tmp_path, options, message):
    with pytest.raises(ConfigError, match=message):
        Statistics(str(tmp_path), **options)
