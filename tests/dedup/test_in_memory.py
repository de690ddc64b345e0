"""Near-duplicates among texts in memory are those that the workflow finds."""

import pyarrow as pa
import pytest
from known_duplicates import duplicates

from curator_dedup import FuzzyDeduplicationWorkflow, find_near_duplicates


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
