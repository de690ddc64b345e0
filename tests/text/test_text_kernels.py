"""The byte kernels agree with plain Python on any Unicode text, whatever the blocks and the column's layout."""

import sys
import unicodedata

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import TableBatch
from curator_text import utf8
from curator_text.content_characters import PROSE_MARKS, non_content_shares
from curator_text.words import count_words, mean_word_lengths

WHITESPACE = "".join(chr(point) for point in range(sys.maxunicode + 1) if chr(point).isspace())
AWKWARD = st.sampled_from(
    [*WHITESPACE, "\u200b", "\u00ad", "\ufeff", "\U0001f600", "é", "中", "ก", "a", "9", "#", "\x00"]
)
TEXTS = st.lists(st.none() | st.text() | st.text(AWKWARD), max_size=12)


def words_oracle(text):
    return len(text.split())


def mean_oracle(text):
    words = text.split()
    return sum(map(len, words)) / len(words) if words else 0.0


def share_oracle(text):
    kept = sum(unicodedata.category(each)[0] in "LMN" or each in PROSE_MARKS for each in text)
    return 1 - kept / len(text) if text else 1.0


KERNELS = [(count_words, words_oracle), (mean_word_lengths, mean_oracle), (non_content_shares, share_oracle)]
each_kernel = pytest.mark.parametrize(("kernel", "oracle"), KERNELS, ids=lambda each: each.__name__)


@each_kernel
@given(texts=TEXTS, block_bytes=st.integers(1, 40))
def test_kernel_matches_plain_python(kernel, oracle, texts, block_bytes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utf8, "BLOCK_BYTES", block_bytes)
        measured = kernel(pl.Series("text", texts, dtype=pl.String))
    assert measured.to_list() == [None if text is None else oracle(text) for text in texts]


@each_kernel
def test_kernel_is_right_about_every_character(kernel, oracle):
    characters = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point <= 0xDFFF]
    texts = [f"a{each}b" for each in characters]
    assert kernel(pl.Series(texts)).to_list() == [oracle(text) for text in texts]


@each_kernel
def test_kernel_reads_any_layout_of_a_text_column(kernel, oracle):
    texts = ["one two", None, "", "drei\u00a0vier fünf", "x" * 300_000, "six"]
    expected = [None if text is None else oracle(text) for text in texts]
    layouts = [
        pa.array(texts, pa.string()),
        pa.array(texts, pa.large_string()),
        pa.array(texts, pa.string_view()),
        pa.array(texts).dictionary_encode(),
        pa.array(["cut", *texts, "off"]).slice(1, len(texts)),
        pa.chunked_array([texts[:2], [], texts[2:]]),
    ]
    for layout in layouts:
        batch = TableBatch(data=pa.table({"text": layout}))
        assert kernel(batch.text("text")).to_list() == expected, layout.type


@each_kernel
def test_kernel_accepts_columns_without_a_single_text(kernel, oracle):
    assert kernel(TableBatch(data=pa.table({"text": pa.array([], pa.string())})).text("text")).to_list() == []
    assert kernel(TableBatch(data={"text": [None, None]}).text("text")).to_list() == [None, None]
    assert kernel(pl.Series(["", ""])).to_list() == [oracle(""), oracle("")]


def test_share_of_ascii_text_is_that_of_the_ascii_definition():
    ascii_text = "".join(map(chr, range(128)))
    kept = sum(each.isalnum() or each in "\n?!,." for each in ascii_text)
    assert non_content_shares(pl.Series([ascii_text])).item() == pytest.approx(1 - kept / 128)


@pytest.mark.parametrize(
    "sentence", ["नमस्ते दुनिया, कैसे हो?", "สวัสดีชาวโลก", "你好世界。你好吗", "Đây là tiếng Việt.", "שָׁלוֹם עוֹלָם"]
)
def test_plain_sentences_of_any_script_are_mostly_content(sentence):
    assert non_content_shares(pl.Series([sentence])).item() <= 0.25
