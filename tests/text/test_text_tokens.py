"""Token ids, token counts and what depends on them."""

import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from curator_core import LocalExecutor, Pipeline, make_stage
from curator_core.authoring.stage import WorkerInfo
from curator_core.values.errors import ConfigError, PipelineError, StageError
from curator_text import AddTokenCount, DocumentBatch, TokenCount, Tokenize, TokenizerFertility
from curator_text.models import token_encoder
from tests.support.tiny_text_models import CORPUS, DOCUMENTS, plain_tokenizer_file, tokenizer_file


def documents(texts):
    return DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))


def ready(stage):
    stage.setup(WorkerInfo())
    return stage


def run(stage, texts):
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[documents(texts)])
    rows = [row for task in result for row in task.data.to_pylist()]
    return rows, dict(result.stats[stage.name].dropped)


def reference(text, max_length, file=None):
    """What the library itself makes of a text."""
    tokenizer = Tokenizer.from_file(str(file or tokenizer_file()))
    tokenizer.enable_truncation(max_length)
    return tokenizer.encode(text).ids


@pytest.mark.parametrize("file", [tokenizer_file, plain_tokenizer_file])
def test_ids_are_those_of_the_library_with_its_special_tokens_and_nulls_stay_null(file):
    rows, _ = run(Tokenize(str(file()), max_length=16), DOCUMENTS)
    for text, row in zip(DOCUMENTS, rows, strict=True):
        assert row["tokens"] == (None if text is None else reference(text, 16, file()))


@settings(max_examples=60)
@given(text=st.text(max_size=400), length=st.integers(3, 40))
def test_reading_a_text_only_as_far_as_needed_changes_nothing(text, length):
    # Few characters per token at first, so that most texts are cut, and cut again.
    encoder = token_encoder.TokenEncoder(Tokenizer.from_file(str(tokenizer_file())), max_length=length)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_encoder, "_FIRST_CHARS_PER_TOKEN", 1)
        (ids,) = encoder.encode(documents([text]).text("text")).to_pylist()
    assert ids == reference(text, length)


def test_of_a_huge_text_only_the_beginning_is_tokenised():
    stage = ready(Tokenize(str(tokenizer_file()), max_length=16))
    seen = []
    tokenizer = stage._encoder._tokenizer

    class Counting:
        def encode_batch_fast(self, texts, **options):
            seen.extend(map(len, texts))
            return tokenizer.encode_batch_fast(texts, **options)

    stage._encoder._tokenizer = Counting()
    huge = "word and word " * 500_000
    assert stage.process(documents([huge])).data["tokens"].to_pylist() == [reference(huge[:1000], 16)]
    assert sum(seen) < 1000


def test_tokenizers_that_cut_on_the_left_keep_the_end(tmp_path):
    tokenizer = Tokenizer.from_file(str(tokenizer_file()))
    tokenizer.enable_truncation(99, direction="left")
    file = tmp_path / "left.json"
    tokenizer.save(str(file))
    rows, _ = run(Tokenize(str(file), max_length=8), [CORPUS[0]])
    tokenizer.enable_truncation(8, direction="left")
    assert rows[0]["tokens"] == tokenizer.encode(CORPUS[0]).ids


def test_max_chars_cuts_before_tokenising():
    rows, _ = run(Tokenize(str(tokenizer_file()), max_chars=3), ["abcdef"])
    assert rows[0]["tokens"] == reference("abc", 100)


def test_counts_are_those_of_the_library():
    rows, dropped = run(AddTokenCount(str(tokenizer_file())), DOCUMENTS)
    tokenizer = Tokenizer.from_file(str(tokenizer_file()))
    expected = [None if text is None else len(tokenizer.encode(text, add_special_tokens=False)) for text in DOCUMENTS]
    assert [row["token_count"] for row in rows] == expected
    assert dropped == {}
    with_special, _ = run(AddTokenCount(str(tokenizer_file()), add_special_tokens=True), DOCUMENTS)
    assert [row["token_count"] for row in with_special] == [None if n is None else n + 2 for n in expected]


def test_limits_of_add_token_count_drop_with_a_reason_and_keep_the_bounds():
    texts = ["a " * count for count in (1, 2, 3, 4)] + [None]
    counts = [row["token_count"] for row in run(AddTokenCount(str(tokenizer_file())), texts)[0]]
    low, high = counts[1], counts[2]
    rows, dropped = run(AddTokenCount(str(tokenizer_file()), min_tokens=low, max_tokens=high), texts)
    assert [row["token_count"] for row in rows] == [low, high]
    assert dropped == {"too_few_tokens": 1, "too_many_tokens": 1, "missing_value": 1}
    with pytest.raises(ConfigError, match="min_tokens=5 is more than max_tokens=2"):
        AddTokenCount("x", min_tokens=5, max_tokens=2)


def test_a_document_in_pieces_has_as_many_tokens_as_in_one(monkeypatch):
    texts = [" ".join(itertools.islice(itertools.cycle(CORPUS), count)) for count in (1, 5, 30)] + [
        "x" * 700,
        "\n\n " * 99,
    ]
    whole = [row["token_count"] for row in run(AddTokenCount(str(tokenizer_file())), texts)[0]]
    monkeypatch.setattr(token_encoder, "_PIECE_CHARS", 64)
    monkeypatch.setattr(token_encoder, "_CALL_CHARS", 100)
    pieces = [row["token_count"] for row in run(AddTokenCount(str(tokenizer_file())), texts)[0]]
    assert pieces[:3] == whole[:3]
    # Where there is no space to cut at, a token can be cut in two.
    assert all(0 <= few - many <= 12 for few, many in zip(pieces[3:], whole[3:], strict=True))


def test_token_count_filters_by_tokens_with_special_ones():
    length = len(reference("a b c", 100))
    rows, dropped = run(TokenCount(str(tokenizer_file()), min_tokens=length), ["a", "a b c", None])
    assert [row["text"] for row in rows] == ["a b c"]
    assert dropped == {"too_few_tokens": 1, "missing_value": 1}


def test_tokenizer_fertility_is_characters_per_token():
    text = CORPUS[0]
    ratio = len(text) / (len(reference(text, 1000)) - 2)
    rows, dropped = run(TokenizerFertility(str(tokenizer_file()), ratio), [text, "日本語日本語", "", None])
    assert [row["text"] for row in rows] == [text]
    assert dropped == {"low_fertility": 2, "missing_value": 1}
    tagged, _ = run(TokenizerFertility(str(tokenizer_file()), tag=True), [text, ""])
    assert [row["tokenizer_fertility_score"] for row in tagged] == [ratio, -1.0]


def test_a_tokenizer_that_is_not_there_is_reported_before_the_run(tmp_path):
    with pytest.raises(PipelineError, match=r"there is no tokenizer '.*gone/tokenizer.json'"):
        run(AddTokenCount(str(tmp_path / "gone/tokenizer.json")), ["a"])


def test_a_file_that_is_no_tokenizer_is_reported(tmp_path):
    file = tmp_path / "tokenizer.json"
    file.write_text("{}")
    with pytest.raises(StageError, match="is not a tokenizer"):
        ready(AddTokenCount(str(tmp_path)))
    with pytest.raises(StageError, match="leaves no room beside the 2 special tokens"):
        ready(Tokenize(str(tokenizer_file()), max_length=2))


def test_the_former_name_of_the_annotator_stays_good():
    assert make_stage("text.count_tokens", tokenizer="x").name == "text.add_token_count"
