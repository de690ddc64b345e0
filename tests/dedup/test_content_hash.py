"""dedup.content_hash: equal content, equal hash; anything else differs."""

import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline, TableBatch
from curator_core.values.errors import StageError, UnknownNameError
from curator_dedup import ContentHash
from curator_dedup.content_hash import hash_rows

TEXTS = st.lists(st.none() | st.text(), max_size=12)


def hashes(column, **options):
    return ContentHash(column="c", **options).process(TableBatch(data=pa.table({"c": column}))).data["content_hash"]


@given(texts=TEXTS)
def test_hash_is_xxh3_128_of_the_utf8_bytes(texts):
    expected = [None if text is None else xxhash.xxh3_128_hexdigest(text.encode()) for text in texts]
    assert hashes(pa.array(texts, pa.string())).to_pylist() == expected
    as_bytes = [None if text is None else text.encode() for text in texts]
    assert hashes(pa.array(as_bytes, pa.binary())).to_pylist() == expected


@given(texts=st.lists(st.none() | st.text(st.sampled_from("aAbÀà \t\n\u00a0\u2028\x1c\x85")), max_size=8))
def test_normalised_hash_ignores_case_and_whitespace(texts):
    plain = [None if text is None else " ".join(text.lower().split()) for text in texts]
    assert hashes(pa.array(texts, pa.string()), normalize=True).equals(hashes(pa.array(plain, pa.string())))


@given(texts=TEXTS)
def test_batch_equals_concatenated_singles(texts):
    whole = hashes(pa.array(texts, pa.string())).to_pylist()
    assert whole == [hashes(pa.array([text], pa.string()))[0].as_py() for text in texts]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([b"one", None, b"", b"two"], pa.binary()),
        pa.array([b"one", None, b"", b"two"], pa.large_binary()),
        pa.array(["one", None, "", "two"], pa.large_string()),
        pa.array(["one", None, "", "two"], pa.string_view()),
        pa.array(["one", None, "", "two"]).dictionary_encode(),
        pa.array([b"cut", b"one", None, b"", b"two"], pa.binary()).slice(1),
        pa.chunked_array([["one", None], [], ["", "two"]]),
    ],
    ids=lambda column: str(column.type),
)
def test_every_layout_of_a_column_hashes_alike(column):
    expected = [xxhash.xxh3_128_hexdigest(each) if each is not None else None for each in (b"one", None, b"", b"two")]
    assert hashes(column).to_pylist() == expected


def test_fixed_size_bytes_and_sliced_arrays():
    assert hashes(pa.array([b"ab", b"cd"], pa.binary(2))).to_pylist() == hashes(pa.array(["ab", "cd"])).to_pylist()
    sliced = pa.array(["x", "ab", None, "cd", "y"], pa.large_string()).slice(1, 3)
    assert hash_rows(sliced).to_pylist() == hashes(pa.array(["ab", None, "cd"])).to_pylist()


def test_empty_and_all_null_batches_keep_the_column():
    assert hashes(pa.array([], pa.string())).type == pa.string()
    assert hashes(pa.nulls(2)).to_pylist() == [None, None]


def test_errors_name_the_column_and_the_fix():
    with pytest.raises(StageError, match="holds int64, but text was expected"):
        hashes(pa.array([1]))
    with pytest.raises(StageError, match="only text can be normalised"):
        hashes(pa.array([b"a"]), normalize=True)
    with pytest.raises(UnknownNameError, match="unknown column 'text'"):
        ContentHash().process(TableBatch(data={"c": ["a"]}))


def test_it_runs_on_any_table_in_a_pipeline():
    batch = TableBatch(data={"caption": ["a cat", "A  cat"], "n": [1, 2]})
    stage = ContentHash(column="caption", output_column="key", normalize=True)
    (out,) = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    assert out.columns == ["caption", "n", "key"]
    assert len(set(out.data["key"].to_pylist())) == 1
