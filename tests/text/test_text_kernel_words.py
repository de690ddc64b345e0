"""Words are split in both ways as the oracles in plain Python split them, on any Unicode text."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_text.kernels import characters as kinds
from curator_text.kernels.blocks import word_blocks
from curator_text.kernels.character_kinds import kind_of
from curator_text.kernels.english_exceptions import english_exceptions
from curator_text.kernels.split_tables import hash_text
from curator_text.metrics.text_bytes import text_bytes
from curator_text.metrics.word_counts import word_counts
from tests.support import quality_oracle as oracle
from tests.support import spacy_oracle
from tests.support.quality_oracle import characters_of

SPACES = characters_of(kinds.SPACE)
AWKWARD = st.sampled_from(
    [
        *SPACES,
        *"\u200b\u00ad\ufeff\U0001f600\u0301é中กa9#\x00.,'-\u2013\u2014\u2026~:/@$+%°",
        "\u2019",
        "km",
        "US$",
        "'s",
        "n't",
        "e.g.",
    ]
)
TEXTS = st.text() | st.lists(AWKWARD, max_size=40).map("".join)


def words_of(texts, *, spacy_like):
    """The words that the kernel finds, and whether their hashes and numbers of characters are right."""
    found = [None] * len(texts)
    for each in word_blocks(text_bytes(pl.Series(texts, dtype=pl.String)), spacy_like=spacy_like):
        data = each.block.data.tobytes()
        starts, ends, hashes, chars, _, *_ = each.words
        for number, row in enumerate(each.block.rows):
            span = range(each.firsts[number], each.firsts[number + 1])
            found[row] = [data[starts[i] : ends[i]].decode() for i in span]
            assert [hash_text(word) for word in found[row]] == [int(hashes[i]) for i in span]
            assert [len(word) for word in found[row]] == [int(chars[i]) for i in span]
    return found


@settings(max_examples=200)
@given(st.lists(TEXTS, max_size=5))
def test_words_at_whitespace_are_those_of_str_split(texts):
    assert words_of(texts, spacy_like=False) == [text.split() for text in texts]


@settings(max_examples=200)
@given(st.lists(TEXTS, max_size=5))
def test_spacy_like_words_are_those_of_the_oracle(texts):
    assert words_of(texts, spacy_like=True) == [spacy_oracle.split(text) for text in texts]


@pytest.mark.parametrize("letter", ["a", "é", "中", "\U0001f600"])
def test_words_may_end_anywhere_in_a_block(letter):
    lengths = (0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129)
    texts = [
        text
        for length in lengths
        for space in (" ", "\u00a0", "\u2003")
        for text in (letter * length + space, space + letter * length, (letter * 3 + space) * length)
    ]
    assert words_of(texts, spacy_like=False) == [text.split() for text in texts]
    assert words_of(texts, spacy_like=True) == [spacy_oracle.split(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't panic, it's only a (small) test.", "Do n't panic , it 's only a ( small ) test ."),
        (
            "He paid US$5.50 at 10am in the U.S.A., e.g. in L.A.",
            "He paid US$ 5.50 at 10 am in the U.S.A. , e.g. in L.A.",
        ),
        ("see www.example.com/a-b?c=d, mail me@example.org!", "see www.example.com/a-b?c=d , mail me@example.org !"),
        ("well-known state-of-the-art 1990-2000", "well - known state - of - the - art 1990 - 2000"),
        ("10km 5GB 20% +5 100$ -3", "10 km 5 GB 20 % +5 100 $ -3"),
        ("wait... what?! \"quoted\" 'single'", "wait ... what ? ! \" quoted \" ' single '"),
        ("cannot gonna id. :-) foo:) <3 <4", "can not gon na i d. :-) foo :) <3 < 4"),
        ("end.Start and/or he/she a,b x=y", "end . Start and/or he / she a , b x = y"),
    ],
)
def test_sentences_are_split_as_spacy_splits_them(text, words):
    assert words_of([text], spacy_like=True) == [words.split()]


def test_every_exception_is_split_by_its_entry():
    texts = list(english_exceptions())
    assert words_of(texts, spacy_like=True) == [list(english_exceptions()[text]) for text in texts]
    around = [f"({text})," for text in texts]
    assert words_of(around, spacy_like=True) == [spacy_oracle.split(text) for text in around]


@pytest.mark.parametrize("words", ["whitespace", "spacy_like"])
@settings(max_examples=100)
@given(texts=st.lists(st.none() | TEXTS, max_size=5))
def test_word_counts_match_the_oracle(words, texts):
    split = str.split if words == "whitespace" else spacy_oracle.split
    measured = word_counts(words).of_texts(pl.Series(texts, dtype=pl.String))
    empty = dict.fromkeys(oracle.word_counts([]))
    assert measured.to_dicts() == [empty if text is None else oracle.word_counts(split(text)) for text in texts]


def test_word_counts_of_every_character():
    points = [point for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
    is_known = [oracle.is_kind(chr(point), kinds.ALPHA) == chr(point).isalpha() for point in points]
    assert np.mean(is_known) > 0.98  # other versions of Unicode have more letters
    texts = [chr(point) for point, known in zip(points, is_known, strict=True) if known]
    measured = word_counts().of_texts(pl.Series(texts))
    assert measured["words"].to_list() == [len(text.split()) for text in texts]
    assert measured["alpha_words"].to_list() == [int(text.isalpha()) for text in texts]


def test_custom_stop_words_are_counted_once_each():
    measured = word_counts("whitespace", ("größer", "x" * 30)).of_texts(pl.Series(["größer " * 3, "x" * 30, "the"]))
    assert measured["stop_words"].to_list() == [1, 1, 0]


def test_the_packaged_table_says_of_ascii_and_latin_what_its_definitions_say():
    table = kinds.character_table()
    for point in [*range(0x250), *range(0x2000, 0x2100), *range(0x3000, 0x3100), 0x1F600, 0xFF11]:
        assert table.of(chr(point)) == kind_of(chr(point)), hex(point)
