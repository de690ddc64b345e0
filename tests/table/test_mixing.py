"""Scores to buckets, sampling by weight and shuffling."""

import collections
import itertools
import json
import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.values.errors import ConfigError, StageError
from curator_table import Partition, ReadJsonl, Resample, ScoreBuckets, Shuffle, Statistics, WriteJsonl, WriteRouted


def rows_of(stage, table):
    out = stage.process(TableBatch(data=table, task_id="7"))
    return [] if out is None else out.data.to_pylist()


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_lines(folder):
    return [json.loads(line) for path in sorted(folder.rglob("*.jsonl")) for line in path.read_text().splitlines()]


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
    batch = TableBatch(data={"quality": values})
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
    from curator_table.stages.sample import Sample

    sample = Sample(fraction=0.2, seed=1).process(TableBatch(data=identified(5000, bucket=["x"] * 5000)))
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
