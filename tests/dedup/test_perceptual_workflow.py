"""Rows whose 64-bit hashes differ in few bits, from files to files."""

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator_core import TableBatch
from curator_core.values.errors import ConfigError, StageError
from curator_dedup import PerceptualDeduplicationWorkflow
from curator_dedup.perceptual.write_hashes import perceptual_hashes
from tests.support.known_duplicates import duplicates


def hashes_with_neighbours(count, seed=0):
    draw = random.Random(seed)
    hashes = [draw.getrandbits(64) for _ in range(count)]
    for _ in range(count):
        near = draw.choice(hashes[:count])
        for bit in draw.sample(range(64), draw.randint(0, 8)):
            near ^= 1 << bit
        hashes.append(near)
    draw.shuffle(hashes)
    return hashes


def run(tmp_path, column, **options):
    (tmp_path / "in").mkdir()
    table = pa.table({"id": [str(number) for number in range(len(column))], "phash": column})
    pq.write_table(table, tmp_path / "in" / "a.parquet")
    workflow = PerceptualDeduplicationWorkflow(
        str(tmp_path / "in"), str(tmp_path / "c"), str(tmp_path / "o"), id_column="id", **options
    )
    return workflow.run()


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("most", [0, 3, 5])
def test_all_neighbours_are_found_and_no_others(tmp_path, most, as_text):
    hashes = hashes_with_neighbours(200)
    column = pa.array([f"{each:016x}" for each in hashes]) if as_text else pa.array(hashes, pa.uint64())
    result = run(tmp_path, column, max_distance=most)
    label = list(range(len(hashes)))
    for one in range(len(hashes)):
        for other in range(one):
            if (hashes[one] ^ hashes[other]).bit_count() <= most:
                old, new = max(label[one], label[other]), min(label[one], label[other])
                label = [new if each == old else each for each in label]
    expected = {str(row): str(root) for row, root in enumerate(label) if row != root}
    assert {row["id"]: row["kept_id"] for row in duplicates(result)} == expected
    assert expected
    assert all(row["similarity"] >= 1 - most / 64 for row in duplicates(result))


def test_rows_without_a_hash_stay(tmp_path):
    result = run(tmp_path, pa.array([5, None, None, 5], pa.int64()))
    assert [(row["id"], row["kept_id"]) for row in duplicates(result)] == [("3", "0")]
    assert result.kept == 3


@pytest.mark.parametrize("values", [["zz"], ["g" * 16], [1.5]])
def test_other_columns_are_refused(values):
    with pytest.raises(StageError, match="64-bit hashes"):
        perceptual_hashes(TableBatch(data={"phash": values}), "phash")


@pytest.mark.parametrize("options", [{"max_distance": 16}, {"max_distance": -1}, {"keep": "longest"}])
def test_impossible_parameters_are_refused(options):
    with pytest.raises(ConfigError):
        PerceptualDeduplicationWorkflow("in", "cache", "out", **options)
