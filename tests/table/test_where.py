import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.authoring.stage import WorkerInfo
from curator_core.values.errors import ConfigError, DataError, UnknownNameError
from curator_table.stages.where import Where

BATCH = {"lang": ["en", "de", None, "en"], "score": [0.9, 0.8, 0.7, None], "n": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("lang = 'en'", [1, 4]),
        ("lang IN ('en', 'de')", [1, 2, 4]),
        ("lang IS NULL OR score > 0.85", [1, 3]),
        ("NOT (lang = 'en')", [2]),
        ("n BETWEEN 2 AND 3", [2, 3]),
        ("n IN (1, 4)", [1, 4]),
        ("length(lang) = 2 AND upper(lang) LIKE 'D%'", [2]),
        ("CASE WHEN n > 2 THEN score > 0.5 ELSE TRUE END", [1, 2, 3]),
        ("TRUE", [1, 2, 3, 4]),
        ("n > 3 -- a comment", [4]),
        ("lang = 'Len'", []),
    ],
)
def test_rows_for_which_it_is_true_are_kept(expression, kept):
    out = Where(expression).process(TableBatch(data=BATCH))
    assert (out.data["n"].to_pylist() if out else []) == kept


def test_rows_are_counted_by_why_they_were_not_kept():
    pipeline = Pipeline("p", stages=[Where("lang = 'en'")])
    result = pipeline.run(LocalExecutor(), initial_tasks=[TableBatch(data=BATCH)])
    assert result.stats["table.where"].dropped == {"not_matched": 1, "missing_value": 1}


def test_a_tag_says_whether_the_row_matched():
    out = Where("n > 2", tag=True).process(TableBatch(data=BATCH))
    assert out.data["where_score"].to_pylist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "expression", ["lang =", "lang = = 'en'", "", "*", "SELECT 1", "no_such_function(n)", "n > 1; n > 2"]
)
def test_what_is_not_sql_is_refused_before_anything_starts(expression):
    for check in (Where(expression).preflight, Where(expression).inputs, lambda: Where(expression).setup(WorkerInfo())):
        with pytest.raises(ConfigError, match=r"table\.where"):
            check()


@pytest.mark.parametrize(
    "expression",
    [
        "n > avg(n)",
        "count(*) > 1",
        "row_number() OVER (ORDER BY n) < 3",
        "sum(n) OVER (PARTITION BY lang) > 1",
        "n = max(n)",
    ],
)
def test_what_looks_at_other_rows_is_refused(expression):
    with pytest.raises(ConfigError, match=r"more than one row|unsupported function"):
        Where(expression).preflight()


def test_its_columns_are_known_before_it_runs():
    assert Where("lang = 'en' AND score > n AND n > 0").inputs() == ["lang", "n", "score"]
    with pytest.raises(UnknownNameError, match="column 'lnag'; did you mean 'lang'"):
        Where("lnag = 'en'").process(TableBatch(data=BATCH))


def test_what_is_neither_true_nor_false_is_refused():
    with pytest.raises(ConfigError, match="not true or false"):
        Where("n + 1").process(TableBatch(data=BATCH))


def test_types_that_cannot_be_compared_are_an_error_of_the_expression():
    with pytest.raises(ConfigError, match="is not a SQL condition"):
        Where("upper(n) = 'A'").process(TableBatch(data=BATCH))


def test_a_panic_of_polars_is_an_error_like_others():
    batch = TableBatch(data={"n": [1], "l": [[1]]})
    with pytest.raises(ConfigError, match="is not a SQL condition"):
        Where("CAST(n AS DECIMAL(200, 3)) > 1").process(batch)
    with pytest.raises(DataError):  # without rows, it does not fail
        Where("l[-9223372036854775808] = 1").process(batch)


def test_a_value_that_cannot_be_converted_costs_its_row_only():
    batch = TableBatch(data={"year": ["1998", "n/a", None, "2021"], "_source": ["f"] * 4, "_row": [0, 1, 2, 3]})
    result = Pipeline("p", stages=[Where("CAST(year AS INTEGER) > 1990")]).run(initial_tasks=[batch])
    assert [year for task in result for year in task.data["year"].to_pylist()] == ["1998", "2021"]
    (record,) = result.quarantined
    assert (record.error_type, record.where, record.rows) == ("DataError", "f:1", 1)
    assert "n/a" in record.message


@given(st.lists(st.one_of(st.none(), st.integers(-(2**62), 2**62))), st.integers(-100, 100))
def test_it_agrees_with_python(numbers, limit):
    import pyarrow as pa

    batch = TableBatch(data={"n": pa.array(numbers, pa.int64())})
    out = Where(f"n > {limit}").process(batch)
    expected = [each for each in numbers if each is not None and each > limit]
    assert (out.data["n"].to_pylist() if out else []) == expected
