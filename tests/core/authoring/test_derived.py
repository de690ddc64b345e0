"""What was computed from a column is computed once, follows its rows, and does not outlive its table."""

import gc
from dataclasses import dataclass

import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from curator_core import Filter, LocalExecutor, Pipeline, TableBatch, Verdict
from curator_core.authoring import derived as module
from curator_core.authoring.derived import derived

calls: list[list[str]] = []


def lengths(batch, column="text"):
    def compute():
        texts = batch.series(column)
        calls.append(texts.to_list())
        return pl.DataFrame({"chars": texts.str.len_chars()})

    return derived(batch.data, column, "lengths", compute)["chars"]


@dataclass
class Longer(Filter):
    than: int = 0
    text_column: str = "text"

    def judge(self, batch):
        length = lengths(batch, self.text_column)
        return Verdict(length, {"short": length <= self.than})


def test_the_second_filter_computes_nothing():
    calls.clear()
    first = Longer(than=1).process(TableBatch(data={"text": ["a", "bb", "ccc", "dddd"]}))
    second = Longer(than=2).process(first)
    assert second.data["text"].to_pylist() == ["ccc", "dddd"]
    assert len(calls) == 1


def test_other_columns_may_change_and_the_column_itself_may_not():
    calls.clear()
    batch = Longer(than=1).process(TableBatch(data={"text": ["a", "bb", "ccc"]}))
    assert lengths(batch.with_column("other", [1, 2])).to_list() == [2, 3]
    assert len(calls) == 1
    assert lengths(batch.with_column("text", ["x", "yyyy"])).to_list() == [1, 4]
    assert len(calls) == 2


@given(st.lists(st.text(max_size=6), max_size=20), st.integers(0, 5), st.integers(0, 5))
def test_values_stay_with_their_rows(texts, first, second):
    batch = TableBatch(data={"text": pa.array(texts, pa.string())})
    for than in (first, second):
        batch = Longer(than=than).process(batch) if batch is not None else None
    kept = [] if batch is None else batch.data["text"].to_pylist()
    assert kept == [text for text in texts if len(text) > max(first, second)]
    if batch is not None:
        assert lengths(batch).to_list() == [len(text) for text in kept]


def test_nothing_is_remembered_of_tables_that_are_gone():
    gc.collect()
    before = len(module._remembered)
    batch = TableBatch(data={"text": ["a", "bb"]})
    kept = Longer(than=1).process(batch)
    assert len(module._remembered) == before + 2
    del batch, kept
    gc.collect()
    assert len(module._remembered) == before


def test_filters_of_a_pipeline_share_what_they_compute():
    calls.clear()
    stages = [Longer(than=number).with_(name=f"longer_{number}") for number in range(4)]
    tasks = [TableBatch(data={"text": ["a", "bbb", "ccccc"]}), TableBatch(data={"text": ["dddddd"]})]
    result = Pipeline("lengths", stages=stages).run(LocalExecutor(), initial_tasks=tasks)
    assert [text for task in result for text in task.data["text"].to_pylist()] == ["ccccc", "dddddd"]
    assert len(calls) == 2
