"""Filters and maps made of functions of a row, and filters made of an expression."""

import re

import polars as pl
import pyarrow as pa
import pytest

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.sdk import (
    ConfigError,
    DataError,
    Filter,
    StageError,
    UnknownNameError,
    processing_stage,
    row_filter,
    row_map,
)
from curator_core.values.errors import PipelineError, ResumeError


def rows(**columns):
    return TableBatch(data=columns)


def run(stage, batch, **arguments):
    return Pipeline("p", stages=[stage]).run(LocalExecutor(), initial_tasks=[batch], **arguments)


def test_an_expression_is_a_filter():
    stage = Filter.of(pl.col("n") + pl.col("m") > 5, reason="small", name="acme.sum")
    assert sorted(stage.inputs()) == ["m", "n"]
    result = run(stage, rows(n=[1, 5, None, 9], m=[1, 5, 5, 9]))
    assert result[0].data["n"].to_pylist() == [5, 9]
    assert result.stats["acme.sum"].dropped == {"small": 1, "missing_value": 1}


def test_an_expression_without_a_name_is_called_after_its_reason():
    assert Filter.of(pl.col("n") > 5, reason="small").name == "small"


def test_an_expression_can_tag_and_invert():
    stage = Filter.of(pl.col("n") > 5, reason="small")
    assert stage.with_(tag=True).process(rows(n=[1, 9])).data["small_reason"].to_pylist() == ["small", None]
    assert stage.with_(invert=True).process(rows(n=[1, 9])).data["n"].to_pylist() == [1]


def test_an_expression_may_be_of_all_columns_but_the_provenance():
    batch = rows(a=[1, 5, 5], b=[5, 1, 5], _source=["x"] * 3, _row=[0, 0, 0])
    expression = pl.all_horizontal(pl.all() > 1) & (pl.col("a") > 0)
    assert Filter.of(expression, reason="small").process(batch).data["a"].to_pylist() == [5]


@pytest.mark.parametrize(
    ("expression", "kept"),
    [(pl.lit(value=True), [1, 2]), (pl.all_horizontal(pl.all() > 1), [2]), (pl.lit(value=None), None)],
)
def test_an_expression_may_name_no_column(expression, kept):
    made = Filter.of(expression, reason="r").process(rows(n=[1, 2]))
    assert (made and made.data["n"].to_pylist()) == kept


def test_an_expression_that_gives_no_booleans_is_refused():
    with pytest.raises(StageError, match="gives Int64, not booleans"):
        Filter.of(pl.col("n") + 1, reason="r").process(rows(n=[1, 2]))
    with pytest.raises(StageError, match="entries for 3 rows"):
        Filter.of(pl.col("n").unique() > 0, reason="r").process(rows(n=[1, 2, 2]))


def test_an_expression_on_a_missing_column_names_it():
    with pytest.raises(UnknownNameError, match="'words'"):
        Filter.of(pl.col("words") > 1, reason="r").process(rows(word=[1]))


def test_an_expression_and_settings_are_part_of_the_identity_of_a_run(tmp_path):
    def start(least, *, fold, resume):
        stages = [Filter.of(pl.col("n") > least, reason="small"), same(fold=fold)]
        batch = rows(n=[1], left=["a"], right=["a"])
        Pipeline("p", stages=stages).run(LocalExecutor(), initial_tasks=[batch], run_dir=tmp_path, resume=resume)

    start(1, fold=False, resume=False)
    start(1, fold=False, resume=True)
    with pytest.raises(ResumeError, match=r"(?s)stage 'small': expression.*stage 'same': fold"):
        start(2, fold=True, resume=True)


@row_filter
def has_words(text):
    return len(text.split()) > 1


@row_filter(reason="unequal", columns=["left", "right"])
def same(a: str, b: str, *, fold: bool = False) -> bool:
    return a.lower() == b.lower() if fold else a == b


def test_a_function_of_a_column_is_a_filter():
    result = run(has_words, rows(text=["a b", "a", None, "c d"]))
    assert result[0].data["text"].to_pylist() == ["a b", "c d"]
    assert result.stats["has_words"].dropped == {"has_words": 1, "missing_value": 1}


def test_a_function_of_several_columns_with_configuration():
    batch = rows(left=["a", "b"], right=["A", "b"])
    assert same.inputs() == ["left", "right"]
    assert same.process(batch).num_rows == 1
    assert same(fold=True).process(batch).num_rows == 2
    assert same(columns=["left", "left"]).process(batch).num_rows == 2
    assert same("a", "A") is False
    assert same("a", "A", fold=True) is True


def test_no_answer_is_a_missing_value():
    @row_filter(skip_nulls=False)
    def known(text):
        return None if text is None else True

    result = run(known, rows(text=["a", None]))
    assert result.stats["known"].dropped == {"missing_value": 1}


def test_a_row_filter_keeps_what_it_drops_if_asked(tmp_path):
    stage = has_words.with_(save_dropped=True)
    run(stage, rows(text=["a b", "a"]), run_dir=tmp_path)
    (file,) = (tmp_path / "dropped").rglob("*.parquet")
    assert pl.read_parquet(file)["_reason"].to_list() == ["has_words"]


@row_map(output="ratio")
def ratio(part: int, whole: int) -> float:
    return part / whole


def test_a_row_that_raises_is_quarantined_alone_with_its_place(tmp_path):
    table = {"part": [1, 1, 1], "whole": [1, 0, 2], "_source": ["a.jsonl"] * 3, "_row": [10, 20, 30]}
    result = run(ratio, TableBatch(data=table), run_dir=tmp_path)
    assert result[0].data["ratio"].to_pylist() == [1.0, 0.5]
    (record,) = result.quarantined
    assert (record.source, record.row, record.error_type) == ("a.jsonl", 20, "ZeroDivisionError")
    assert re.search(r"division by zero \(line \d+ of ratio\)", record.message)


def test_a_row_that_raises_raises_outside_of_a_run():
    with pytest.raises(DataError, match="ZeroDivisionError"):
        ratio.process(rows(part=[1], whole=[0]))


def test_a_batch_of_which_no_row_is_left_is_nothing():
    result = run(ratio, rows(part=[1, 2], whole=[0, 0]))
    assert not list(result)
    assert len(result.quarantined) == 2
    assert ratio.process(rows(part=pl.Series([], dtype=pl.Int64), whole=pl.Series([], dtype=pl.Int64))).num_rows == 0


def test_a_map_replaces_the_first_column_it_takes_unless_told_otherwise():
    @row_map
    def louder(text):
        return text.upper()

    assert louder.process(rows(text=["a", None])).data["text"].to_pylist() == ["A", None]
    assert louder.outputs() == []
    assert louder(output="loud").outputs() == ["loud"]


def test_the_type_of_a_column_does_not_depend_on_its_values():
    nothing = rows(part=[None], whole=[None])
    assert str(ratio.process(nothing).data["ratio"].type) == "double"
    words = row_map(output="words")(lambda text: text.split())
    assert words.process(rows(text=["a b"])).data["words"].to_pylist() == [["a", "b"]]

    @row_map
    def same_text(text):
        return text

    assert same_text.process(rows(text=pa.nulls(1, pa.large_string()))).data["text"].type == pa.large_string()


def test_a_dictionary_becomes_columns():
    @row_map
    def split(name):
        first, _, last = name.partition(" ")
        return {"first": first, "last": last}

    table = split.process(rows(name=["Ada Lovelace", None])).data
    assert table.to_pylist() == [
        {"name": "Ada Lovelace", "first": "Ada", "last": "Lovelace"},
        {"name": None, "first": None, "last": None},
    ]
    declared = split(output=["last"])
    assert declared.outputs() == ["last"]
    assert declared.process(rows(name=["Ada Lovelace"])).columns == ["name", "last"]


def test_a_result_that_is_no_dictionary_where_columns_are_declared_is_the_fault_of_the_row():
    @row_map(output=["a", "b"])
    def odd(n):
        return {"a": n, "b": n} if n > 1 else n

    result = run(odd, rows(n=[1, 2]))
    assert result[0].data["b"].to_pylist() == [2]
    assert "not a dictionary with a, b" in result.quarantined[0].message


def test_settings_without_a_default_must_be_given():
    @row_filter
    def longer(text: str, *, than: int) -> bool:
        return len(text) > than

    with pytest.raises(PipelineError, match=r"(?s)parameter 'than' is required.*longer\(than=\.\.\.\)"):
        Pipeline("p", stages=[longer]).build()
    assert longer(than=1).process(rows(text=["a", "bb"])).num_rows == 1


def test_names_that_mean_something_for_every_stage_are_refused():
    with pytest.raises(ConfigError, match="'workers' cannot be a parameter"):

        @row_filter
        def f(text, *, workers=1):
            return True


def test_a_function_without_columns_is_refused():
    with pytest.raises(ConfigError, match="takes no column"):

        @row_filter
        def f(*, n=1):
            return True


def test_a_function_of_a_task_needs_no_parentheses_and_may_have_configuration():
    @processing_stage
    def repeat(batch: TableBatch, times: int = 2) -> TableBatch:
        return batch.with_data(pl.concat([batch.frame] * times))

    batch = rows(text=["a"])
    assert repeat.name == "repeat"
    assert repeat.process(batch).num_rows == repeat(batch).num_rows == 2
    assert repeat(times=3).with_(name="thrice").process(batch).num_rows == 3


def test_functions_in_a_script_travel_to_workers():
    import pickle

    from curator_core.executors.ray.shipping import dumps

    twin = pickle.loads(dumps(same(fold=True)))
    assert twin.process(rows(left=["a"], right=["A"])).num_rows == 1
