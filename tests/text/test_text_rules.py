"""Rules are judged in order, and later groups are measured only for documents that are still in."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from curator_core import Filter, TableBatch
from curator_core.authoring.recording import Recording
from curator_core.values.errors import StageError
from curator_text.filters.rules import Rule, judge_rules
from curator_text.metrics.group import MetricGroup

TEXTS = ["", "four", None, "much too long", "tiny", "also long"]


def counted_groups():
    """Two groups over byte lengths that note which documents they were asked to measure."""
    asked = {"cheap": [], "dear": []}

    def measure(name):
        def lengths(column):
            asked[name].append(column.rows_to_measure.tolist())
            return {"bytes": np.diff(column.offsets)}

        return MetricGroup(name, lengths)

    return measure("cheap"), measure("dear"), asked


def rule_filter(**options):
    cheap, dear, asked = counted_groups()

    class Ruled(Filter):
        def rules(self):
            return [
                Rule("empty", (cheap,), pl.col("bytes") == 0),
                Rule("long", (cheap,), pl.col("bytes") > 9),
                Rule("long", (dear,), pl.col("bytes") > 8),
                Rule("zero", (dear,), pl.col("bytes") == 0),
            ]

        def judge(self, batch):
            return judge_rules(batch, "text", self.rules(), measure_all=self.tag)

    return Ruled(**options), asked


def test_the_first_rule_broken_is_the_reason_and_dropped_documents_are_not_measured_again():
    stage, asked = rule_filter()
    recording = Recording()
    with recording.active():
        kept = stage.process(TableBatch(data={"text": TEXTS}))
    assert kept.data["text"].to_pylist() == ["four", "tiny"]
    assert recording.dropped == {"empty": 1, "long": 2, "missing_value": 1}
    assert asked == {"cheap": [[0, 1, 2, 3, 4, 5]], "dear": [[1, 4, 5]]}


def test_tagging_measures_all_and_counts_the_rules_passed():
    stage, asked = rule_filter(tag=True)
    tagged = stage.process(TableBatch(data={"text": TEXTS})).data
    assert tagged["Ruled_reason"].to_pylist() == ["empty", None, "missing_value", "long", None, "long"]
    assert tagged["Ruled_score"].to_pylist() == [0, 4, None, 1, 4, 2]
    assert [len(rows) for rows in asked["dear"]] == [len(TEXTS)]


def test_a_group_that_a_neighbour_measured_is_not_measured_again():
    stage, asked = rule_filter()
    batch = TableBatch(data={"text": TEXTS})
    rules = stage.rules()
    rules[2].groups[0].of(batch, "text")
    stage.process(batch)
    assert [len(rows) for rows in asked["dear"]] == [len(TEXTS)]


@pytest.mark.parametrize("column", [pa.array([1, 2]), pa.array([["a"], ["b"]])])
def test_a_column_that_is_no_text_is_refused(column):
    stage, _ = rule_filter()
    with pytest.raises(StageError, match="text was expected"):
        stage.process(TableBatch(data=pa.table({"text": column})))


def test_no_rows_and_only_nulls():
    stage, _ = rule_filter()
    assert stage.process(TableBatch(data=pa.table({"text": pa.array([], pa.string())}))).num_rows == 0
    assert stage.process(TableBatch(data=pa.table({"text": pa.array([None], pa.string())}))) is None
