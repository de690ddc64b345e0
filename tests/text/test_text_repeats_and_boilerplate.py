"""Repeated lines and boilerplate phrases are counted right wherever they stand in the blocks that kernels look at."""

import polars as pl
import pytest

from curator_text.metrics.boilerplate_strings import BOILERPLATE, PLACEHOLDER, STRINGS
from curator_text.metrics.lines import REPEATS


def test_documents_may_have_more_lines_than_there_is_room_for_at_first():
    counts = [1, 5_000, 3, 900, 70_000]
    texts = pl.Series(["\n".join(f"line {n // 2}" for n in range(count)) for count in counts])
    found = REPEATS.of_texts(texts)
    assert found["lines"].to_list() == counts
    assert found["distinct_lines"].to_list() == [-(-count // 2) for count in counts]


@pytest.mark.parametrize("phrase", [PLACEHOLDER, *STRINGS, "COO\u212aIE policy"])
def test_phrases_are_found_wherever_they_stand(phrase):
    texts = [f"{'x' * before} {phrase.upper()}{'y' * after}" for before in range(140) for after in (0, 1, 70)]
    found = BOILERPLATE.of_texts(pl.Series(texts))
    column = "placeholders" if phrase == PLACEHOLDER else "boilerplate_paragraphs"
    assert set(found[column].to_list()) == {1}
    assert set(found["paragraphs"].to_list()) == {1}


def test_paragraphs_are_cut_at_two_newlines_wherever_they_stand():
    texts = [
        f"{'x' * before}{feeds * chr(10)}{'y' * after}"
        for before in range(130)
        for feeds in range(6)
        for after in (0, 3)
    ]
    assert BOILERPLATE.of_texts(pl.Series(texts))["paragraphs"].to_list() == [len(text.split("\n\n")) for text in texts]
