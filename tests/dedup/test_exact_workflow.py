"""Exact deduplication, from files to files, of texts and of bytes."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core.authoring.column_bytes import column_bytes
from curator_core.values.errors import ConfigError
from curator_dedup import ExactDeduplicationWorkflow, FuzzyDeduplicationWorkflow
from curator_dedup.exact.hashing import hash_values
from tests.support.known_duplicates import Documents, duplicates, ids_in


@given(st.lists(st.none() | st.binary(max_size=40) | st.binary(max_size=3), max_size=30), st.integers(0, 3))
def test_hashes_are_equal_for_equal_bytes_only(values, cut):
    array = pa.array([b"x", b"yy", b"zzz", *values], pa.binary())
    hashes = hash_values(column_bytes(array.slice(3 - cut)))[cut:]
    seen = {}
    for value, halves in zip(values, hashes.tolist(), strict=True):
        if value is not None:
            assert seen.setdefault(tuple(halves), value) == value
            assert seen.setdefault(halves[0], value) == value
            assert seen.setdefault(halves[1], value) == value
            assert halves == hash_values(column_bytes(pa.array([value], pa.binary())))[0].tolist()


def test_the_first_of_equal_documents_is_kept_in_order(documents):
    result = ExactDeduplicationWorkflow(**documents.paths()).run()
    seen = {}
    for name, text in documents.texts.items():
        seen.setdefault(text, name)
    assert ids_in(documents.paths()["output_path"]) == list(seen.values())
    assert {(row["id"], row["kept_id"], row["similarity"]) for row in duplicates(result)} == {
        (name, seen[text], 1.0) for name, text in documents.texts.items() if seen[text] != name
    }


def test_normalised_text_is_compared_when_asked(tmp_path):
    documents = Documents(tmp_path, {"a": "Two  words", "b": " two WORDS\n", "c": "three", "d": None, "e": None}).write(
        2
    )
    assert ExactDeduplicationWorkflow(**documents.paths("a")).run().removed == 0
    result = ExactDeduplicationWorkflow(**documents.paths("b"), normalize=True).run()
    assert [(row["id"], row["kept_id"]) for row in duplicates(result)] == [("b", "a")]


def test_bytes_of_any_kind_are_compared(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    table = pa.table({"image": pa.array([b"\x89PNG", b"\xff\xd8", b"\x89PNG", None], pa.binary()), "key": list("abcd")})
    pq.write_table(table, folder / "images.parquet")
    result = ExactDeduplicationWorkflow(
        str(folder), str(tmp_path / "c"), str(tmp_path / "o"), text_column="image", id_column="key"
    ).run()
    assert [(row["id"], row["kept_id"]) for row in duplicates(result)] == [("c", "a")]
    assert pq.read_table(result.output_paths[0])["key"].to_pylist() == ["a", "b", "d"]


def test_what_another_corpus_has_is_removed(tmp_path):
    old = Documents(tmp_path / "old", {"a": "first", "b": "second"}).write(1)
    new = Documents(tmp_path / "new", {"c": "second", "d": "third", "e": "third"}).write(1)
    ExactDeduplicationWorkflow(**old.paths(), perform_removal=False).run()
    result = ExactDeduplicationWorkflow(**new.paths(), compare_with=old.paths()["cache_path"]).run()
    assert {(row["id"], row["kept_id"]) for row in duplicates(result)} == {("c", "b"), ("e", "d")}
    with pytest.raises(ConfigError, match="is of kind 'exact', not 'fuzzy'"):
        FuzzyDeduplicationWorkflow(**new.paths("f"), compare_with=old.paths()["cache_path"]).run()


def test_numbers_cannot_be_compared(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_text(json.dumps({"text": 1}) + "\n", encoding="utf-8")
    workflow = ExactDeduplicationWorkflow(str(folder), str(tmp_path / "c"), str(tmp_path / "o"))
    assert workflow.run().quarantined == 1
