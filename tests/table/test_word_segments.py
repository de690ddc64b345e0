"""Words of scripts without spaces: where they end, what stays as it is, and what is missing to find them."""

import threading
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core.values.errors import MissingPackageError
from curator_table import word_segments
from curator_table.word_segments import SEGMENTED, check_segmenter, separate_words

EXAMPLES = {
    "chinese": {
        "今天天气很好、我们去公园。": "今天天气 很 好 、 我们 去 公园 。",
        "使用Python语言 。": "使用 Python 语言 。",
    },
    "japanese": {
        "今日は天気がいい。": "今日 は 天気 が いい 。",
        "iPhoneで\n写真を撮る": "iPhone で\n写真 を 撮る",
    },
    "thai": {"วันนี้อากาศดีมาก (hello)": "วันนี้ อากาศ ดีมาก (hello)", "ปี2567": "ปี 2567"},
}
NEEDED = {"chinese": ["rjieba"], "japanese": ["fugashi", "unidic_lite"], "thai": ["nlpo3", "pythainlp"]}
INSTALLED = [
    pytest.param(
        words, marks=pytest.mark.skipif(not all(map(find_spec, needed)), reason=f"needs curator-table[{words}]")
    )
    for words, needed in NEEDED.items()
]


@pytest.mark.parametrize("words", INSTALLED)
def test_words_are_set_apart(words):
    for text, apart in EXAMPLES[words].items():
        assert separate_words(text, words) == apart


@pytest.mark.parametrize("words", INSTALLED)
@given(text=st.text(st.sampled_from("我们公园今天はがラー々ｱไทยกิน๑ a1,。\n\u3000"), max_size=60))
def test_only_single_spaces_are_added(words, text):
    apart = separate_words(text, words)
    assert "".join(apart.split()) == "".join(text.split())
    assert apart.count("  ") == text.count("  ")
    assert apart.split("\n") == [separate_words(line, words) for line in text.split("\n")]
    assert (apart[:1].isspace(), apart[-1:].isspace()) == (text[:1].isspace(), text[-1:].isspace())


@pytest.mark.parametrize("words", INSTALLED)
def test_every_thread_finds_the_same_words_in_text_without_end(words):
    text = "".join(EXAMPLES[words]).replace(" ", "") * 3 + next(iter(EXAMPLES[words]))[0] * 50_000
    found = []
    threads = [threading.Thread(target=lambda: found.append(separate_words(text, words))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [separate_words(text, words)] * 4


def test_other_ways_to_split_change_nothing():
    assert separate_words("今天天气很好", "whitespace") == "今天天气很好"
    assert set(NEEDED) == SEGMENTED
    check_segmenter("text.word_count", "whitespace")


@pytest.mark.parametrize("words", sorted(SEGMENTED))
def test_a_missing_package_is_named_with_the_line_to_install_it(monkeypatch, words):
    monkeypatch.setattr(word_segments, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=f"text.word_count with words: {words} needs the package") as caught:
        check_segmenter("text.word_count", words)
    assert caught.value.fix == f"pip install 'curator-table[{words}]'"
