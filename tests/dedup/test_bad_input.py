"""What deduplication does with input that is wrong or odd: a clear error, or behaviour that can be relied on."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from curator_core import LocalExecutor
from curator_core.authoring.column_bytes import column_bytes
from curator_core.values.errors import ConfigError, UnknownNameError
from curator_dedup import ExactDeduplicationWorkflow, FuzzyDeduplicationWorkflow
from curator_dedup.fuzzy.in_memory import similarity_of_pairs
from curator_dedup.minhash.scheme import MinhashScheme
from curator_dedup.minhash.signing import sign
from tests.support.known_duplicates import Documents, duplicates

WORKFLOWS = pytest.mark.parametrize("workflow", [ExactDeduplicationWorkflow, FuzzyDeduplicationWorkflow])
SENTENCE = "a sentence that is long enough to have a few shingles of 24 characters"


@WORKFLOWS
@pytest.mark.parametrize("name", ["cache_path", "output_path"])
def test_a_folder_that_the_next_pass_would_read_is_refused(documents, workflow, name):
    paths = {**documents.paths(), name: str(documents.input / "inside")}
    with pytest.raises(ConfigError, match="the next run would take its own output for input"):
        workflow(**paths).run()


@WORKFLOWS
def test_a_missing_column_is_named_with_those_there_are(documents, workflow):
    with pytest.raises(UnknownNameError, match=r"body.*\n?.*the first file has: id, text, score"):
        workflow(**documents.paths(), text_column="body").run(LocalExecutor(on_error="raise"))


@WORKFLOWS
def test_two_documents_with_one_id_are_told_apart_by_their_place(tmp_path, workflow):
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [("x", SENTENCE), ("x", "something else"), ("x", SENTENCE), ("y", "something different")]
    lines = [json.dumps({"id": name, "text": text, "n": number}) + "\n" for number, (name, text) in enumerate(rows)]
    (folder / "a.jsonl").write_text("".join(lines), encoding="utf-8")
    result = workflow(str(folder), str(tmp_path / "cache"), str(tmp_path / "out"), id_column="id").run()
    texts = [Path(path).read_text(encoding="utf-8") for path in result.output_paths]
    left = [json.loads(line)["n"] for text in texts for line in text.splitlines()]
    assert left == [0, 1, 3]
    assert [(row["id"], row["kept_id"]) for row in duplicates(result)] == [("x", "x")]


@WORKFLOWS
def test_a_corpus_of_nulls_or_of_nothing_has_no_duplicates(tmp_path, workflow):
    nulls = Documents(tmp_path / "nulls", {"a": None, "b": None}).write(1)
    assert workflow(**nulls.paths()).run().removed == 0
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "a.jsonl").touch()
    result = workflow(str(folder), str(tmp_path / "cache"), str(tmp_path / "out")).run()
    assert (result.documents, result.removed) == (0, 0)


def test_a_document_with_more_shingles_than_are_compared_is_measured_by_a_fraction_of_them():
    letters, changed, ngrams = 9_000_000, 900_000, 24  # of 8,388,608 shingles on, half of them are drawn
    draw = np.random.default_rng(0)
    text = draw.integers(97, 123, letters, np.uint8)
    other = text.copy()
    other[-changed:] = draw.integers(97, 123, changed, np.uint8)
    column = column_bytes(pa.array([text.tobytes().decode(), other.tobytes().decode()], pa.large_string()))
    scheme = MinhashScheme(unit="char", ngrams=ngrams)
    first, second = np.array([0, 0]), np.array([0, 1])
    same, near = similarity_of_pairs(column, scheme, first, second)
    shared, each = letters - changed - ngrams + 1, letters - ngrams + 1
    assert same == 1.0
    assert near == pytest.approx(shared / (2 * each - shared), abs=1e-3)
    signatures, counts = sign(column, scheme)
    assert counts.tolist() == [each, each]
    assert (signatures[0] == signatures[1]).mean() == pytest.approx(shared / (2 * each - shared), abs=0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 1}, "seed is 42 there and 1 here"),
        ({"word_ngrams": 3}, "unit is char there and word here"),
        ({"num_bands": 10, "minhashes_per_band": 10}, "bands is 20 there and 10 here"),
        ({"bits": 64}, "bits is 32 there and 64 here"),
    ],
)
def test_an_index_made_with_other_parameters_is_refused(documents, changes, message):
    options = {"num_bands": 20, "minhashes_per_band": 5}
    FuzzyDeduplicationWorkflow(**documents.paths("old"), **options, verify=False, perform_removal=False).run()
    later = FuzzyDeduplicationWorkflow(
        **documents.paths("new"), **{**options, **changes}, compare_with=documents.paths("old")["cache_path"]
    )
    with pytest.raises(ConfigError, match=message):
        later.run()
