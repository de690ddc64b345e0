"""text.normalize against a plain-Python statement of what it promises."""

import re
import sys
import unicodedata

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import StageError
from curator_text import DocumentBatch, Normalize
from curator_text.modifiers.normalize import NOT_SURELY_NFC

STEPS = ("control_characters", "newlines", "nfc", "spaces", "trailing_space", "blank_lines")
MESSY = st.text(
    st.sampled_from(
        "ab \t\n\r\x0b\x0c\x1c\x1e\x1f\x85\u2028\u2029\x00\x7f\x9f\u00a0e\u0301\u0327\uac00\u1100\u1161\u212b"
    )
)
TEXT = MESSY | st.text(st.characters(codec="utf-8"), max_size=30)
OPTIONS = st.fixed_dictionaries({step: st.booleans() for step in STEPS})


def normalize(texts, **options):
    batch = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    return Normalize(**options).process(batch).data["text"].to_pylist()


def oracle(text, *, control_characters, newlines, nfc, spaces, trailing_space, blank_lines):
    if control_characters:
        text = text.replace("\x1f", " ")
        text = "".join(each for each in text if unicodedata.category(each) != "Cc" or each.isspace())
    if newlines:
        text = re.sub("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]", "\n", text)
    if nfc:
        text = unicodedata.normalize("NFC", text)
    if spaces:
        text = re.sub("[ \t]{2,}", " ", text)
    if trailing_space:
        text = re.sub("[ \t]+\n", "\n", text).rstrip(" \t\n")
    if blank_lines:
        text = re.sub("\n{3,}", "\n\n", text)
    return text


@given(texts=st.lists(st.none() | MESSY, max_size=6), options=OPTIONS)
def test_every_combination_of_steps_matches_the_oracle(texts, options):
    expected = [None if text is None else oracle(text, **options) for text in texts]
    assert normalize(texts, **options) == expected


@given(text=TEXT)
def test_applying_it_twice_changes_nothing(text):
    once = normalize([text])
    assert normalize(once) == once


@given(text=TEXT)
def test_words_survive(text):
    plain = "".join(each for each in text if unicodedata.category(each) != "Cc" or each.isspace())
    assert normalize([text], nfc=False)[0].split() == plain.split()


@given(text=TEXT)
def test_no_control_characters_or_runs_remain(text):
    (clean,) = normalize([text])
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", clean)
    assert "\n\n\n" not in clean
    assert "  " not in clean
    assert clean == clean.rstrip(" \t\n")


def test_text_outside_the_screened_characters_is_in_form_c():
    points = [point for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF]
    characters = pl.Series([chr(point) for point in points])
    screened = set(characters.filter(characters.str.contains(NOT_SURELY_NFC)).to_list())
    seconds = set()  # characters that some composed character has in second place, and Hangul's vowels and finals
    for each in map(chr, points):
        parts = unicodedata.normalize("NFD", each)
        seconds.update(parts[1:])
        if unicodedata.normalize("NFC", each) != each or unicodedata.combining(each):
            assert each in screened, f"U+{ord(each):04X} changes or reorders"
    assert seconds <= screened


def test_steps_are_named_and_separate():
    text = "e\u0301 \r\n\r\n\r\nx\x00  y\t"
    nothing = dict.fromkeys(STEPS, False)
    assert normalize([text], **nothing) == [text]
    assert normalize([text], **{**nothing, "nfc": True}) == ["é \r\n\r\n\r\nx\x00  y\t"]
    assert normalize([text], **{**nothing, "newlines": True}) == ["e\u0301 \n\n\nx\x00  y\t"]
    assert normalize([text], **{**nothing, "control_characters": True}) == ["e\u0301 \r\n\r\n\r\nx  y\t"]
    assert normalize([text], **{**nothing, "spaces": True}) == ["e\u0301 \r\n\r\n\r\nx\x00 y\t"]
    assert normalize([text], **{**nothing, "trailing_space": True}) == ["e\u0301 \r\n\r\n\r\nx\x00  y"]
    assert normalize([text]) == ["é\n\nx y"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("texts", [["clean", None], ["a  b\r\n", None]])
def test_column_type_position_and_neighbours_are_kept(kind, texts):
    table = pa.table({"id": [1, 2], "text": pa.array(texts, kind), "more": ["x", "y"]})
    batch = DocumentBatch(data=table, task_id="7", meta={"a": 1})
    after = Normalize().process(batch)
    assert isinstance(after, DocumentBatch)
    assert (after.task_id, after.meta) == ("7", {"a": 1})
    assert after.data.schema == table.schema
    assert after.data.drop_columns("text").equals(table.drop_columns("text"))
    assert batch.data["text"].to_pylist() == texts


def test_another_column_and_wrong_types():
    batch = DocumentBatch(data={"body": ["a  b"], "number": [1]})
    assert Normalize(text_column="body").process(batch).data["body"].to_pylist() == ["a b"]
    with pytest.raises(StageError, match="'number' holds int64"):
        Normalize(text_column="number").process(batch)


def test_it_runs_in_a_pipeline():
    batches = [DocumentBatch(data={"text": ["one\r\ntwo", "e\u0301"]}), DocumentBatch(data={"text": [None]})]
    result = Pipeline(stages=[Normalize()]).run(LocalExecutor(), initial_tasks=batches)
    assert [task.data["text"].to_pylist() for task in result] == [["one\ntwo", "é"], [None]]
    assert result.stats["text.normalize"].rows_out == 3
