"""Several sources, blended in the proportions asked for."""

import collections
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError
from curator_table import Blend
from curator_table.stages.blend import BlendSource, blend_rates


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


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
        fraction = sum(row["blend_source"] == "books" for row in batch) / len(batch)
        assert 0.2 < fraction < 0.5
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
