"""Near-duplicates in Chinese: which shingles find them."""

import random
from importlib.util import find_spec

import pytest

from curator_core import Pipeline
from curator_core.values.errors import ConfigError, DataError, MissingPackageError, PipelineError
from curator_dedup import FuzzyDeduplicationWorkflow, Minhash, find_near_duplicates
from curator_dedup.minhash.scheme import SCHEME_KEY, MinhashScheme
from curator_table import word_segments
from tests.support.known_duplicates import Documents, duplicates

PAIRS = 20
SYLLABLES = "今天我们去公园看花他说天气很好学生老师学校图书馆城市电影音乐工作问题时间朋友国家经济社会历史文化世界"
needs_chinese = pytest.mark.skipif(find_spec("rjieba") is None, reason="needs curator-table[chinese]")


def near_duplicates():
    """Return documents of clauses without spaces, each followed by one in which a character in a hundred differs."""
    rng = random.Random(7)
    texts = []
    for _ in range(PAIRS):
        clauses = ["".join(rng.choices(SYLLABLES, k=rng.randint(6, 14))) for _ in range(40)]
        document = list("、".join(clauses))
        texts.append("".join(document))
        for place in range(50, len(document), 100):
            document[place] = rng.choice(SYLLABLES)
        texts.append("".join(document))
    return texts


def found(**options):
    table = find_near_duplicates(near_duplicates(), **options)
    pairs = zip(table["document"].to_pylist(), table["kept"].to_pylist(), strict=True)
    return sum(document == kept + 1 and kept % 2 == 0 for document, kept in pairs), table.num_rows


def test_short_runs_of_characters_find_what_long_ones_and_words_between_spaces_do_not():
    assert found(char_ngrams=5) == (PAIRS, PAIRS)
    assert found()[1] <= 1
    assert found(word_ngrams=5)[1] <= 1


@needs_chinese
def test_words_of_a_segmenter_find_them():
    right, all_of_them = found(word_ngrams=2, words="chinese")
    assert right >= 0.9 * PAIRS
    assert right == all_of_them


@needs_chinese
def test_the_workflow_finds_the_same_in_memory_and_from_files(tmp_path):
    documents = Documents(tmp_path, {f"{number:02}": text for number, text in enumerate(near_duplicates())}).write()
    options = {"word_ngrams": 2, "words": "chinese", "perform_removal": False}
    removed = []
    for number, in_memory_bytes in enumerate((1 << 20, 0)):
        paths = documents.paths() | {"cache_path": str(tmp_path / f"cache {number}")}
        removed.append(
            duplicates(FuzzyDeduplicationWorkflow(**paths, **options, in_memory_bytes=in_memory_bytes).run())
        )
    assert removed[0] == removed[1]
    assert len(removed[0]) == found(word_ngrams=2, words="chinese")[1]


def test_signatures_of_other_words_are_not_compared():
    at_spaces, chinese = MinhashScheme("word", 5), MinhashScheme("word", 5, words="chinese")
    assert b"words" not in at_spaces.to_metadata()[SCHEME_KEY]  # as earlier versions wrote it
    for ours, theirs in ((at_spaces, chinese), (chinese, at_spaces)):
        with pytest.raises(DataError, match="words is"):
            ours.check(theirs.to_metadata(), source="cache")
        ours.check(ours.to_metadata(), source="cache")


def test_words_go_with_shingles_of_words():
    with pytest.raises(ConfigError, match="words 'chinese' with shingles of chars"):
        find_near_duplicates(["一"], words="chinese")
    with pytest.raises(ConfigError, match="words 'klingon'"):
        Minhash(unit="word", words="klingon")


def test_a_missing_segmenter_is_noticed_before_anything_runs(monkeypatch):
    monkeypatch.setattr(word_segments, "find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r"dedup\.fuzzy with words: thai"):
        FuzzyDeduplicationWorkflow("in", "cache", "out", word_ngrams=3, words="thai")
    with pytest.raises(PipelineError, match="needs the package 'rjieba'") as caught:
        Pipeline(stages=[Minhash(unit="word", words="chinese")]).build()
    assert caught.value.fix == "pip install 'curator-table[chinese]'"
