"""Filters: what is dropped, counted, tagged, inverted and kept aside."""

from dataclasses import dataclass

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import Filter, LocalExecutor, Pipeline, TableBatch, Verdict
from curator_core.values.errors import StageError


@dataclass
class Length(Filter):
    low: int = 2
    high: int = 4
    text_column: str = "text"
    name: str = "toy.length"

    def judge(self, batch: TableBatch) -> Verdict:
        length = batch.text(self.text_column).str.len_chars()
        return Verdict(length, {"short": length < self.low, "long": length > self.high})


WORDS = ["a", "bb", "ccc", None, "ddddd", ""]


def run(stage, words=WORDS, **arguments):
    batch = TableBatch(data=pl.DataFrame({"text": words}, schema={"text": pl.String}))
    return Pipeline("p", stages=[stage]).run(LocalExecutor(), initial_tasks=[batch], **arguments)


def test_rows_are_dropped_and_counted_by_reason():
    result = run(Length())
    assert result[0].data["text"].to_pylist() == ["bb", "ccc"]
    stats = result.stats["toy.length"]
    assert stats.dropped == {"short": 2, "long": 1, "missing_value": 1}
    assert (stats.rows_in, stats.rows_out) == (6, 2)
    assert (stats.scores.count, stats.scores.minimum, stats.scores.maximum) == (5, 0, 5)
    assert result.dropped == {"long": 1, "missing_value": 1, "short": 2}


def test_statistics_are_found_by_short_name():
    assert run(Length()).stats["length"].rows_in == 6


def test_tag_keeps_all_rows_and_says_why():
    table = run(Length(tag=True))[0].data
    assert table["length_reason"].to_pylist() == ["short", None, None, "missing_value", "long", "short"]
    assert table["length_score"].to_pylist() == [1, 2, 3, None, 5, 0]


def test_invert_keeps_what_would_be_dropped():
    result = run(Length(invert=True))
    assert result[0].data["text"].to_pylist() == ["a", None, "ddddd", ""]
    assert result.stats["length"].dropped == {"inverted": 2}


def test_options_can_be_set_on_an_instance():
    assert run(Length().with_(tag=True))[0].num_rows == 6


def test_dropped_rows_are_kept_with_stage_reason_and_score(tmp_path):
    run(Length(save_dropped=True), run_dir=tmp_path)
    (part,) = (tmp_path / "dropped" / "toy.length").glob("*.parquet")
    rows = pq.read_table(part).to_pylist()
    assert [(row["text"], row["_reason"], row["_score"]) for row in rows] == [
        ("a", "short", 1.0),
        (None, "missing_value", None),
        ("ddddd", "long", 5.0),
        ("", "short", 0.0),
    ]
    assert {row["_stage"] for row in rows} == {"toy.length"}


def test_a_batch_that_loses_all_rows_ends():
    assert len(run(Length(), words=["a"])) == 0


def test_a_verdict_of_the_wrong_length_or_type_is_named():
    class Broken(Length):
        def judge(self, batch):
            return Verdict([1], {})

    class Numbers(Length):
        def judge(self, batch):
            return Verdict([1] * batch.num_rows, {"odd": [1] * batch.num_rows})

    batch = TableBatch(data={"text": ["a", "b"]})
    with pytest.raises(StageError, match="1 entries for 2 rows"):
        Broken().process(batch)
    with pytest.raises(StageError, match="not booleans"):
        Numbers().process(batch)


@given(st.lists(st.none() | st.text(max_size=6), max_size=20))
def test_kept_plus_dropped_is_everything_and_rows_are_independent(words):
    result = run(Length(), words=words)
    kept = [text for task in result for text in task.data["text"].to_pylist()]
    assert len(kept) + sum(result.dropped.values()) == len(words)
    singles = [text for word in words for task in run(Length(), words=[word]) for text in task.data["text"].to_pylist()]
    assert kept == singles
