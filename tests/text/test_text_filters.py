"""The text filters through the public API: what is kept, what is dropped and why."""

from importlib.util import find_spec

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError, PipelineError
from curator_table import word_segments
from curator_text import (
    DocumentBatch,
    GopherQuality,
    GopherRepetition,
    Heuristics,
    LongWord,
    MeanWordLength,
    NonAlphaNumeric,
    Normalize,
    RepeatingDuplicateNGrams,
    RepeatingTopNGrams,
    WordCount,
)


def run(stage, texts, **columns):
    batch = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string()), **columns}))
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    kept = [text for task in result for text in task.data["text"].to_pylist()]
    return kept, dict(result.stats[stage.name].dropped)


def test_word_count_keeps_the_bounds_and_names_the_reason():
    kept, dropped = run(WordCount(min_words=2, max_words=3), ["", "a", "a b", "a b c", "a b c d", None])
    assert kept == ["a b", "a b c"]
    assert dropped == {"too_few_words": 2, "too_many_words": 1, "missing_value": 1}


def test_word_count_defaults():
    documents = ["w " * count for count in (49, 50, 100_000, 100_001)]
    kept, dropped = run(WordCount(), documents)
    assert kept == documents[1:3]
    assert dropped == {"too_few_words": 1, "too_many_words": 1}


def test_mean_word_length_keeps_the_bounds():
    kept, dropped = run(MeanWordLength(), ["aa aa", "aaa", "a" * 10, "a" * 11, "ééé ééé", "", None])
    assert kept == ["aaa", "a" * 10, "ééé ééé"]
    assert dropped == {"mean_word_too_short": 2, "mean_word_too_long": 1, "missing_value": 1}


def test_non_alpha_numeric_keeps_the_bound():
    kept, dropped = run(NonAlphaNumeric(), ["abc#", "ab##", "Prose, with marks!", "жили были", "", None])
    assert kept == ["abc#", "Prose, with marks!", "жили были"]
    assert dropped == {"too_many_symbols": 2, "missing_value": 1}


def test_tag_keeps_rows_and_says_why():
    batch = DocumentBatch(data={"text": ["one two", "one"]})
    (out,) = Pipeline(stages=[WordCount(min_words=2, tag=True)]).run(initial_tasks=[batch])
    assert out.data["word_count_score"].to_pylist() == [2, 1]
    assert out.data["word_count_reason"].to_pylist() == [None, "too_few_words"]


def test_filters_run_on_any_text_column():
    batch = DocumentBatch(data={"caption": ["a small cat", "cat"]})
    (out,) = Pipeline(stages=[WordCount(min_words=2, text_column="caption")]).run(initial_tasks=[batch])
    assert out.data["caption"].to_pylist() == ["a small cat"]


def test_impossible_bounds_are_refused_at_once():
    with pytest.raises(ConfigError, match=r"min_words=5 is more than max_words=2"):
        WordCount(min_words=5, max_words=2)
    with pytest.raises(ConfigError, match=r"min_length=5 is more than max_length=2"):
        MeanWordLength(min_length=5, max_length=2)
    with pytest.raises(ConfigError, match="between 0 and 1"):
        NonAlphaNumeric(max_fraction=25)


@pytest.mark.parametrize(
    "stage",
    [WordCount(min_words=2, max_words=4), MeanWordLength(), NonAlphaNumeric(), Normalize()],
    ids=lambda stage: stage.name,
)
@given(texts=st.lists(st.none() | st.text(), min_size=1, max_size=8))
def test_batch_equals_concatenated_singles(stage, texts):
    table = pa.table({"text": pa.array(texts, pa.string()), "n": list(range(len(texts)))})

    def rows(part):
        out = stage.process(DocumentBatch(data=part))
        return [] if out is None else out.data.to_pylist()

    assert rows(table) == [row for index in range(len(texts)) for row in rows(table.slice(index, 1))]


def test_one_instance_serves_several_threads():
    batches = [DocumentBatch(data={"text": ["one two three", "x" * count]}) for count in range(40)]
    stages = [Normalize(), WordCount(min_words=2)]
    result = Pipeline(stages=stages).run(LocalExecutor(threads=2), initial_tasks=batches)
    assert sum(task.num_rows for task in result) == 40
    assert result.stats["word_count"].dropped == {"too_few_words": 40}


CHINESE = (
    "今天天气很好、我们去公园看花。学生在图书馆学习历史、老师说这个问题很重要。火车从北京开往上海、路上经过许多城市。"
    "晚上朋友们一起听音乐、谈论电影和最近读过的书。经济发展以后、人民的生活水平提高了。"
)
needs_chinese = pytest.mark.skipif(find_spec("rjieba") is None, reason="needs curator-table[chinese]")


@needs_chinese
def test_words_of_a_script_without_spaces_are_counted():
    assert run(WordCount(min_words=10), [CHINESE]) == ([], {"too_few_words": 1})
    assert run(WordCount(min_words=10, words="chinese"), [CHINESE]) == ([CHINESE], {})
    assert run(MeanWordLength(), [CHINESE])[1] == {"mean_word_too_long": 1}
    assert run(MeanWordLength(min_length=1.5, max_length=2, words="chinese"), [CHINESE, None])[0] == [CHINESE]
    assert run(LongWord(max_length=5), [CHINESE])[0] == []
    assert run(LongWord(max_length=5, words="chinese"), [CHINESE])[0] == [CHINESE]
    options = {"words": "chinese", "min_words": 10, "min_mean_word_length": 1, "min_stop_words": None}
    assert run(GopherQuality(**options), [CHINESE]) == ([CHINESE], {})
    assert run(GopherQuality(**options | {"words": "whitespace"}), [CHINESE])[1] == {"gopher_short_doc": 1}
    assert run(GopherQuality(**options | {"min_stop_words": 2, "stop_words": ["很", "在"]}), [CHINESE])[0] == [CHINESE]


@needs_chinese
def test_repeated_phrases_without_spaces_are_found():
    repeated = "买一送一大家快来、" * 30
    for stage in (
        RepeatingTopNGrams(words="chinese"),
        RepeatingDuplicateNGrams(n=3, words="chinese"),
        GopherRepetition(words="chinese"),
    ):
        assert run(stage, [repeated, CHINESE])[0] == [CHINESE], stage.name
    assert run(GopherRepetition(), [repeated])[0] == [repeated]


@needs_chinese
def test_neighbouring_filters_segment_a_document_once(monkeypatch):
    from curator_text.metrics import group

    segmented = []
    separate = group.separate_words
    monkeypatch.setattr(group, "separate_words", lambda text, words: segmented.append(text) or separate(text, words))
    stages = [WordCount(min_words=5, words="chinese"), GopherRepetition(words="chinese"), LongWord(words="chinese")]
    batch = DocumentBatch(data={"text": [CHINESE, "好", CHINESE + "完"]})
    (out,) = Pipeline(stages=stages).run(LocalExecutor(), initial_tasks=[batch])
    assert out.num_rows == 2
    assert segmented == [CHINESE, "好", CHINESE + "完"]


def test_a_missing_segmenter_is_noticed_before_anything_runs(monkeypatch):
    monkeypatch.setattr(word_segments, "find_spec", lambda _: None)
    for stage in (WordCount(words="thai"), GopherQuality(words="thai"), RepeatingTopNGrams(words="thai")):
        with pytest.raises(PipelineError, match="needs the package 'nlpo3'") as caught:
            Pipeline(stages=[stage]).build()
        assert caught.value.fix == "pip install 'curator-table[thai]'"
    for recipe in ("c4", "fineweb"):
        with pytest.raises(ConfigError, match=f"the recipe {recipe} has rules of C4"):
            Heuristics(recipe, words="chinese").decompose()
