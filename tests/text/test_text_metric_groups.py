"""A group of metrics is measured once for neighbouring filters, on any layout of a text column."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from curator_core import TableBatch
from curator_text.metrics.group import MetricGroup

TEXTS = ["one two", None, "", "drei\u00a0vier fünf", "x" * 300_000, "six"]


def byte_lengths(column):
    return {"bytes": np.diff(column.offsets)}


@pytest.mark.parametrize(
    "layout",
    [
        pa.array(TEXTS, pa.string()),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS).dictionary_encode(),
        pa.array(["cut", *TEXTS, "off"]).slice(1, len(TEXTS)),
        pa.chunked_array([TEXTS[:2], [], TEXTS[2:]]),
    ],
    ids=lambda layout: f"{type(layout).__name__}-{layout.type}",
)
def test_any_layout(layout):
    batch = TableBatch(data=pa.table({"text": layout}))
    measured = MetricGroup("bytes", byte_lengths).of(batch, "text")
    assert measured["bytes"].to_list() == [None if text is None else len(text.encode()) for text in TEXTS]


@pytest.mark.parametrize("texts", [[], [None, None], [""]])
def test_columns_without_a_single_character(texts):
    measured = MetricGroup("bytes", byte_lengths).of_texts(pl.Series(texts, dtype=pl.String))
    assert measured["bytes"].to_list() == [None if text is None else 0 for text in texts]


def test_a_group_is_measured_once_per_batch_and_for_rows_that_stay():
    measured = []

    def measure(column):
        measured.append(column.num_documents)
        return byte_lengths(column)

    group = MetricGroup("counted", measure)
    batch = TableBatch(data={"text": ["a", "bb", "ccc"]})
    group.of(batch, "text")
    kept = batch.with_rows(pl.Series([True, False, True]))
    assert group.of(kept, "text")["bytes"].to_list() == [1, 3]
    assert measured == [3]


@pytest.mark.parametrize(
    ("characters", "pieces"), [(2_000_000, [2, 3]), (10, [5])], ids=["large pieces stay apart", "small ones are joined"]
)
def test_pieces_of_a_column_are_joined_only_where_that_is_cheap(characters, pieces):
    measured = []

    def measure(column):
        measured.append(column.num_documents)
        return byte_lengths(column)

    texts = ["a" * characters, "bb", None, "c" * characters, ""]
    column = pa.chunked_array([pa.array(["cut", *texts[:2]])[1:], pa.array(texts[2:])])
    group = MetricGroup("counted", measure)
    batch = TableBatch(data=pa.table({"text": column}))
    assert group.of(batch, "text")["bytes"].to_list() == [None if text is None else len(text) for text in texts]
    assert measured == pieces
    kept = batch.with_rows(pl.Series([False, True, True, True, False]))
    assert group.of(kept, "text")["bytes"].to_list() == [2, None, characters]
    assert measured == pieces
