"""Duplicates among texts in memory are those that the workflows find."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_dedup import (
    ExactDeduplicationWorkflow,
    FuzzyDeduplicationWorkflow,
    find_exact_duplicates,
    find_near_duplicates,
)
from tests.support.known_duplicates import Documents, duplicates


@pytest.mark.parametrize(
    "options",
    [{}, {"verify": False}, {"word_ngrams": 3, "threshold": 0.6}, {"seed": 7, "char_ngrams": 8}],
    ids=["characters", "not verified", "words", "another seed"],
)
def test_the_same_duplicates_are_found_as_by_the_workflow(documents, options):
    options = {"num_bands": 20, "minhashes_per_band": 5, **options}
    names, texts = list(documents.texts), list(documents.texts.values())
    found = find_near_duplicates(pa.chunked_array([texts[:100], texts[100:]]), **options)
    expected = duplicates(FuzzyDeduplicationWorkflow(**documents.paths(), **options, perform_removal=False).run())
    rows = found.to_pylist()
    assert len(rows) > 30
    assert [(names[row["document"]], names[row["kept"]], row["similarity"]) for row in rows] == [
        (row["id"], row["kept_id"], row["similarity"]) for row in expected
    ]


def test_nulls_and_nothing_have_no_duplicates():
    assert find_near_duplicates([None, "", "one text", None, "", "one text"])["document"].to_pylist() == [5]
    assert len(find_near_duplicates([])) == 0
    assert len(find_near_duplicates(pa.nulls(3))) == 0


@given(st.lists(st.none() | st.text(max_size=3)))
def test_equal_texts_are_duplicates_of_the_first(texts):
    expected, first = [], {}
    for place, text in enumerate(texts):
        if text is not None and first.setdefault(text, place) != place:
            expected.append({"document": place, "kept": first[text]})
    assert find_exact_duplicates(pa.array(texts, pa.string())).to_pylist() == expected
    data = pa.array([None if text is None else text.encode() for text in texts], pa.binary())
    assert find_exact_duplicates(data).to_pylist() == expected


def test_many_equal_texts_are_found_in_their_parts():
    numbers = [number * 7919 % 30_000 for number in range(50_000)]
    found = find_exact_duplicates([str(number) for number in numbers])
    assert found["document"].to_pylist() == list(range(30_000, 50_000))
    assert found["kept"].to_pylist() == list(range(20_000))


@pytest.mark.parametrize("normalize", [False, True])
def test_the_same_equal_texts_are_found_as_by_the_workflow(tmp_path, normalize):
    texts = [f"{'Text' if number % 2 else 'text'}  {number % 40}" for number in range(120)]
    documents = Documents(tmp_path, {f"id {number}": text for number, text in enumerate(texts)}).write()
    workflow = ExactDeduplicationWorkflow(**documents.paths(), normalize=normalize, perform_removal=False)
    expected = [(row["id"], row["kept_id"]) for row in duplicates(workflow.run())]
    found = find_exact_duplicates(texts, normalize=normalize).to_pylist()
    assert len(found) == 80
    assert [(f"id {row['document']}", f"id {row['kept']}") for row in found] == expected
