"""Line, paragraph and n-gram metrics match plain Python on any Unicode text and any layout of a column."""

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import TableBatch
from curator_text.kernels import blocks
from curator_text.kernels import characters as kinds
from curator_text.metrics.lines import line_counts
from curator_text.metrics.ngrams import gopher_ngrams
from curator_text.metrics.word_counts import word_counts
from tests.support import quality_oracle as oracle
from tests.support import spacy_oracle
from tests.support.quality_oracle import characters_of

PIECES = st.sampled_from(
    [
        *characters_of(kinds.BREAK),
        *" \t\u00a0\u3000.-#?!\u2026\u2022a9é中\U0001f600\x00",
        "...",
        "\r\n",
        "same",
        "same line",
        "\n\n",
    ]
)
TEXTS = st.text() | st.lists(PIECES, max_size=60).map("".join)
TOP, REPEATED = (2, 3, 4), (5, 6, 7, 8, 9, 10)


@settings(max_examples=300)
@given(st.lists(st.none() | TEXTS, max_size=5))
def test_line_counts_match_the_oracle(texts):
    measured = line_counts().of_texts(pl.Series(texts, dtype=pl.String))
    nothing = dict.fromkeys(oracle.line_counts(""))
    assert measured.to_dicts() == [nothing if text is None else oracle.line_counts(text) for text in texts]


@pytest.mark.parametrize("text", ["." * n for n in (1, 2, 3, 4, 5, 6, 62, 63, 64, 65, 66, 67, 128, 200)])
@pytest.mark.parametrize("shift", [0, 1, 61, 62, 63])
def test_ellipses_are_found_across_blocks(text, shift):
    whole = "x" * shift + text + "x.x." + text
    assert line_counts().of_texts(pl.Series([whole])).row(0, named=True) == oracle.line_counts(whole)


def test_line_ends_and_short_lines_can_be_chosen():
    text = "ends with plus+\nends well.\nx;"
    measured = line_counts(2, "+;").of_texts(pl.Series([text, "é+"]))
    assert measured["ended_lines"].to_list() == [2, 1]
    assert measured["short_lines"].to_list() == [1, 1]


def ngram_oracle(words):
    top = {f"top_{n}_chars": oracle.top_ngram_chars(words, n) for n in TOP}
    return top | {f"repeated_{n}_chars": oracle.repeated_ngram_chars(words, n) for n in REPEATED}


FEW_WORDS = st.lists(st.sampled_from(["a", "b", "ab", "is", "été", "!", "a\u0301"]), max_size=80).map(" ".join)


@pytest.mark.parametrize("words", ["whitespace", "spacy_like"])
@settings(max_examples=150)
@given(texts=st.lists(FEW_WORDS | st.text(), max_size=4))
def test_ngrams_match_the_oracle(words, texts):
    split = str.split if words == "whitespace" else spacy_oracle.split
    measured = gopher_ngrams(words, TOP, REPEATED).of_texts(pl.Series(texts, dtype=pl.String))
    assert measured.to_dicts() == [ngram_oracle(split(text)) for text in texts]


def test_ngrams_of_a_document_that_only_repeats():
    text = "round and round it goes " * 500
    assert gopher_ngrams("whitespace", TOP, REPEATED).of_texts(pl.Series([text])).row(0, named=True) == ngram_oracle(
        text.split()
    )


GROUPS = [
    (line_counts(), oracle.line_counts),
    (word_counts(), lambda text: oracle.word_counts(text.split())),
    (gopher_ngrams("whitespace", TOP, REPEATED), lambda text: ngram_oracle(text.split())),
]
each_group = pytest.mark.parametrize(("group", "of_text"), GROUPS, ids=["lines", "words", "ngrams"])


@each_group
def test_any_layout_of_a_column_is_measured(group, of_text):
    texts = ["one two\ntwo", None, "", "drei\u00a0vier fünf", "x y " * 80_000, "six"]
    expected = [None if text is None else of_text(text) for text in texts]
    layouts = [
        pa.array(texts, pa.string()),
        pa.array(texts, pa.large_string()),
        pa.array(texts, pa.string_view()),
        pa.array(texts).dictionary_encode(),
        pa.array(["cut", *texts, "off"]).slice(1, len(texts)),
        pa.chunked_array([texts[:2], [], texts[2:]]),
    ]
    for layout in layouts:
        measured = group.of(TableBatch(data=pa.table({"text": layout})), "text").to_dicts()
        assert [None if text is None else row for text, row in zip(texts, measured, strict=True)] == expected


@each_group
@given(texts=st.lists(TEXTS, min_size=1, max_size=12), block_bytes=st.integers(1, 200), wanted=st.data())
@settings(max_examples=60)
def test_blocks_and_rows_that_are_left_out_change_nothing(group, of_text, texts, block_bytes, wanted):
    mask = wanted.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    batch = TableBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block_bytes)
        measured = group.of_rows(batch, "text", pl.Series(mask).to_numpy()).to_dicts()
    for text, row, is_wanted in zip(texts, measured, mask, strict=True):
        assert not is_wanted or row == of_text(text)


@each_group
@pytest.mark.parametrize("texts", [[], [None, None], [""], ["", None]])
def test_columns_without_a_single_character(group, of_text, texts):
    measured = group.of_texts(pl.Series(texts, dtype=pl.String)).to_dicts()
    assert measured == [dict.fromkeys(of_text("")) if text is None else of_text(text) for text in texts]


@each_group
def test_a_huge_document_and_many_tiny_ones(group, of_text):
    huge = "The same words again, and others: " + " ".join(map(str, range(700_000))) + "\n\n" + "no spaces" * 200_000
    texts = [*(["tiny"] * 50_000), huge, *([""] * 50_000), "last"]
    measured = group.of_texts(pl.Series(texts))
    for row, text in ((0, "tiny"), (50_000, huge), (70_000, ""), (100_001, "last")):
        assert measured.row(row, named=True) == of_text(text)
    assert measured.n_unique() <= 4


@each_group
def test_bytes_that_are_no_text_do_no_harm(group, of_text):
    broken = b"ab \xff\xfe \xf7\xbf\xbf\xbf \xe2\x80 \xc2"
    offsets = pa.py_buffer(b"".join(each.to_bytes(4, "little") for each in (0, len(broken))))
    column = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(broken)])
    assert group.of(TableBatch(data=pa.table({"text": column})), "text").height == 1
