"""Documents cut into segments and joined again, and the ids and labels of rows."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError, StageError
from curator_text import (
    AddId,
    DocumentBatch,
    FasttextLabel,
    JoinDocuments,
    SplitDocuments,
)


def apply(stage, texts):
    batch = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    return stage.process(batch).data["text"].to_pylist()


@given(texts=st.lists(st.text(st.sampled_from("ab\n"), max_size=12), min_size=1, max_size=5))
def test_splitting_and_joining_gives_the_documents_back(texts):
    batch = DocumentBatch(
        data={
            "text": texts,
            "n": list(range(len(texts))),
            "_source": ["f"] * len(texts),
            "_row": list(range(len(texts))),
        }
    )
    segments = SplitDocuments(separator="\n").process(batch)
    assert segments.num_rows == sum(text.count("\n") + 1 for text in texts)
    shuffled = segments.with_data(segments.data.take(list(reversed(range(segments.num_rows)))))
    joined = JoinDocuments(separator="\n").process(shuffled).data
    assert sorted(joined.select(["n", "text"]).to_pylist(), key=lambda row: row["n"]) == [
        {"n": n, "text": text} for n, text in enumerate(texts)
    ]
    assert "segment_id" not in joined.column_names


@given(lengths=st.lists(st.integers(0, 5), min_size=1, max_size=8), limit=st.integers(1, 12))
def test_joined_documents_are_as_long_as_the_limit_allows(lengths, limit):
    texts = [chr(97 + at) * length for at, length in enumerate(lengths)]
    batch = DocumentBatch(data={"id": [1] * len(texts), "text": texts, "segment_id": list(range(len(texts)))})
    options = {"separator": "--", "document_id_column": "id", "max_length": limit, "drop_segment_id_column": False}
    rows = JoinDocuments(**options).process(batch).data.to_pylist()
    assert "--".join(row["text"] for row in rows) == "--".join(texts)
    assert [row["segment_id"] for row in rows] == list(range(len(rows)))
    for row, after in zip(rows, [*rows[1:], None], strict=True):
        assert len(row["text"]) <= limit or "--" not in row["text"]
        if after is not None:  # the first segment of the next row would not have fitted
            assert len(row["text"]) + 2 + len(after["text"].split("--")[0]) > limit


def test_joining_counts_what_it_is_told_and_skips_nulls():
    batch = DocumentBatch(
        data={
            "id": [1, 1, 1, 2, None, None],
            "text": ["a", "b", None, None, "x", "y"],
            "segment_id": [0, 1, 2, 0, 0, 1],
            "tokens": [5, 5, 5, 0, 1, 1],
        }
    )
    options = {"separator": " ", "document_id_column": "id", "max_length": 11, "length_column": "tokens"}
    assert JoinDocuments(**options).process(batch).data.to_pylist() == [
        {"id": 1, "text": "a b", "tokens": 11},
        {"id": 1, "text": None, "tokens": 5},
        {"id": 2, "text": None, "tokens": 0},
        {"id": None, "text": "x", "tokens": 1},
        {"id": None, "text": "y", "tokens": 1},
    ]
    with pytest.raises(ConfigError, match="length_column needs max_length"):
        JoinDocuments(length_column="tokens")


def test_segments_are_filtered_and_joined_in_one_pipeline(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "keep\\n\\ndrop\\n\\nkeep too"}\n{"text": "drop"}\n')
    from curator_text import ReadJsonl, Regex

    stages = [ReadJsonl(str(tmp_path / "in.jsonl")), SplitDocuments(), Regex("drop"), JoinDocuments()]
    (out,) = Pipeline(stages=stages).run(LocalExecutor())
    assert out.data["text"].to_pylist() == ["keep\n\nkeep too"]


def test_ids_say_where_a_row_is_and_do_not_depend_on_batches(tmp_path):
    from curator_text import ReadJsonl

    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    (tmp_path / "b.jsonl").write_text('{"text": "three"}\n')

    def ids(**options):
        stages = [ReadJsonl(str(tmp_path), **options), AddId(id_prefix="x")]
        return sorted(
            each for task in Pipeline(stages=stages).run(LocalExecutor()) for each in task.data["id"].to_pylist()
        )

    assert ids() == ids(block_bytes=10)
    assert len(set(ids())) == 3
    assert all(re.fullmatch(r"x-[0-9a-f]{16}-\d+", each) for each in ids())


def test_ids_of_other_fields_and_columns_in_the_way():
    batch = DocumentBatch(data={"id": [1, 2], "doc": ["a", None], "segment_id": [0, None]})
    with pytest.raises(StageError, match="there is a column 'id' already"):
        AddId(columns=["doc"]).process(batch)
    ids = AddId(columns=["doc", "segment_id"], overwrite=True).process(batch).data["id"].to_pylist()
    assert ids[1] == "null-null"
    assert ids[0].endswith("-0")
    with pytest.raises(StageError, match="not text or whole numbers"):
        AddId(id_column="new", columns=["x"]).process(DocumentBatch(data={"x": [0.5]}))


def test_a_label_for_fasttext():
    assert apply(FasttextLabel("__label__hq"), ["a\nb __label__c", None]) == ["__label__hq a b  c", None]
    with pytest.raises(ConfigError, match="no spaces"):
        FasttextLabel("two words")
