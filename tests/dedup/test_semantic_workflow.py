"""Semantic deduplication, from files to files."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curator_core import TableBatch
from curator_core.values.errors import ConfigError, CuratorError, StageError
from curator_dedup import SemanticDeduplicationWorkflow
from curator_dedup.semantic.vectors import unit_vectors
from tests.support.known_duplicates import duplicates

WIDTH = 16


def write_vectors(folder, vectors, files=2, **columns):
    folder.mkdir(parents=True)
    values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1).astype(np.float32)), vectors.shape[1])
    table = pa.table({"id": [f"v{number}" for number in range(len(vectors))], "embedding": values, **columns})
    size = -(-len(table) // files)
    for number in range(files):
        pq.write_table(table.slice(number * size, size), folder / f"{number}.parquet")
    return str(folder)


def with_near_duplicates(count, seed=0):
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(count, WIDTH)) + 3 * draw.normal(size=(8, WIDTH))[draw.integers(0, 8, count)]
    near = vectors[: count // 5] * draw.uniform(0.5, 2, (count // 5, 1)) + draw.normal(size=(count // 5, WIDTH)) * 0.02
    return np.concatenate([vectors, near])


def oracle(vectors, eps, order):
    """Remove, in an order of preference, what is like something before it."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similar = unit @ unit.T >= 1 - eps
    return {int(row) for place, row in enumerate(order) if similar[row, order[:place]].any()}


@pytest.fixture
def run(tmp_path):
    def call(vectors, name="run", columns=None, **options):
        folder = tmp_path / name
        source = write_vectors(folder / "in", vectors, **(columns or {}))
        workflow = SemanticDeduplicationWorkflow(
            source, str(folder / "cache"), str(folder / "out"), id_column="id", **options
        )
        return workflow.run()

    return call


@pytest.mark.parametrize("clusters", [1, 7, None])
def test_all_near_duplicates_are_found_across_the_borders_of_clusters(run, clusters):
    vectors = with_near_duplicates(300)
    scores = np.random.default_rng(2).permutation(len(vectors)).astype(float)
    result = run(
        vectors, columns={"score": scores}, n_clusters=clusters, eps=0.01, which_to_keep="best", score_column="score"
    )
    expected = oracle(vectors, 0.01, np.argsort(-scores))
    assert len(expected) >= 50
    assert {row["id"] for row in duplicates(result)} == {f"v{row}" for row in expected}
    assert all(row["similarity"] >= 0.99 - 1e-6 for row in duplicates(result))
    left = pa.concat_tables([pq.read_table(path) for path in result.output_paths])
    assert left["id"].to_pylist() == [f"v{row}" for row in range(len(vectors)) if row not in expected]


@pytest.mark.parametrize("which", ["hard", "easy", "random"])
def test_one_of_each_pair_is_kept_whatever_is_preferred(run, which):
    vectors = with_near_duplicates(200)
    result = run(vectors, eps=0.01, which_to_keep=which)
    removed = {row["id"] for row in duplicates(result)}
    kept = {f"v{number}" for number in range(len(vectors))} - removed
    assert len(removed) >= 35
    assert {row["kept_id"] for row in duplicates(result)} <= kept


def test_hard_keeps_the_far_one_and_easy_the_near_one(run):
    centre = np.zeros(WIDTH)
    centre[0] = 1
    near, far = centre.copy(), centre.copy()
    near[1], far[1] = 0.3, 0.4
    vectors = np.stack([*np.tile(centre, (30, 1)) + np.eye(30, WIDTH) * 0.9, near, far])
    options = {"n_clusters": 1, "eps": 0.01}
    for which, expected in (("hard", "v30"), ("easy", "v31")):
        removed = {row["id"] for row in duplicates(run(vectors, name=which, which_to_keep=which, **options))}
        assert removed & {"v30", "v31"} == {expected}


@pytest.mark.parametrize("which", ["hard", "easy", "random"])
def test_the_same_is_kept_whatever_the_files_are_called_and_in_which_order_they_come(tmp_path, which):
    """An earlier step names its files after what it read, so that other folders mean another order."""
    vectors = with_near_duplicates(400)
    kept = []
    for name, order in (("one", np.arange(480)), ("two", np.random.default_rng(1).permutation(480))):
        source = write_vectors(tmp_path / name / "in", vectors[order], files=3, number=order)
        workflow = SemanticDeduplicationWorkflow(
            source,
            str(tmp_path / name / "cache"),
            str(tmp_path / name / "out"),
            which_to_keep=which,
            n_clusters=12,
            eps=0.02,
        )
        workflow.run()
        kept.append(sorted(pq.read_table(tmp_path / name / "out")["number"].to_pylist()))
    assert kept[0] == kept[1]
    assert len(kept[0]) < 480


def test_rows_without_an_embedding_stay(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [[1.0, 0.0], None, None, [0.0, 0.0], [float("nan"), 1.0], [2.0, 0.0], [0.0, 0.0]]
    table = pa.table({"id": [str(number) for number in range(len(rows))], "embedding": pa.array(rows)})
    pq.write_table(table, folder / "a.parquet")
    result = SemanticDeduplicationWorkflow(str(folder), str(tmp_path / "c"), str(tmp_path / "o"), id_column="id").run()
    assert len(duplicates(result)) == 1
    assert duplicates(result)[0]["id"] in ("0", "5")
    assert result.kept == 6


@given(st.lists(st.none() | st.lists(st.floats(width=32), min_size=3, max_size=3), max_size=8))
@example([[0.0, 0.0, 6.733882663301015e-23], [1e-45, 1e-45, 0.0]])  # their squares are too small for 32 bits
@settings(max_examples=50)
def test_any_numbers_are_unit_vectors_or_none(rows):
    batch = TableBatch(data=pa.table({"embedding": pa.array(rows, pa.list_(pa.float32()))}))
    vectors, is_there = unit_vectors(batch, "embedding")
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors[is_there], axis=1), 1, atol=1e-3)
    assert not vectors[~is_there].any()


def test_other_columns_are_refused():
    with pytest.raises(StageError, match="lists of numbers"):
        unit_vectors(TableBatch(data={"embedding": ["text"]}), "embedding")
    with pytest.raises(StageError, match="2 different lengths"):
        unit_vectors(TableBatch(data={"embedding": [[1.0], [1.0, 2.0]]}), "embedding")


@pytest.mark.parametrize(
    "options", [{"eps": 1.0}, {"n_clusters": 0}, {"which_to_keep": "best"}, {"which_to_keep": "all"}]
)
def test_impossible_parameters_are_refused(options):
    with pytest.raises(ConfigError):
        SemanticDeduplicationWorkflow("in", "cache", "out", **options)


def test_a_missing_column_is_named(run):
    with pytest.raises(CuratorError, match="embeddings"):
        run(with_near_duplicates(10), embedding_column="embeddings")
