"""Ids of documents that have none of their own."""

import numpy as np
import pytest

from curator_dedup import ExactDeduplicationWorkflow
from curator_dedup.cache_files import save_array
from curator_dedup.matching import place_ids
from curator_dedup.matching.place_ids import PlaceIds
from curator_dedup.numbering import Numbering


@pytest.mark.parametrize("at_once", [2, 1 << 18])
def test_an_id_is_file_and_place_in_any_order_and_number(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(place_ids, "_AT_ONCE", at_once)
    rows = np.array([0, 9, 10, 12_345_678_901, 0, 99, 100])
    save_array(rows, str(tmp_path / "rows.npy"))
    sources = {"b/ü.jsonl": (4, 7), "a.jsonl": (0, 4)}
    ids = PlaceIds(Numbering((), sources, str(tmp_path / "rows.npy")))
    expected = [
        "a.jsonl:0",
        "a.jsonl:9",
        "a.jsonl:10",
        "a.jsonl:12345678901",
        *(f"b/ü.jsonl:{n}" for n in (0, 99, 100)),
    ]
    assert ids.of(np.arange(7)).to_pylist() == expected
    assert ids.of(np.array([6, 0, 3, 3])).to_pylist() == [expected[number] for number in (6, 0, 3, 3)]
    assert ids.of(np.arange(0)).to_pylist() == []


def test_a_corpus_without_duplicates_has_an_empty_table(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n{"text": "b"}\n', encoding="utf-8")
    workflow = ExactDeduplicationWorkflow(str(tmp_path / "in.jsonl"), str(tmp_path / "c"), perform_removal=False)
    result = workflow.run()
    assert (result.documents, result.removed) == (2, 0)
