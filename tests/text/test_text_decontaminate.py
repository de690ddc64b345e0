"""Documents that repeat benchmark sets, against a plain-Python search for shared n-grams."""

import json

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError, UnknownNameError
from curator_text import CountContamination, Decontaminate, DocumentBatch, ReadJsonl, RemoveContamination
from curator_text.privacy.reference_index import build_index
from curator_text.privacy.word_characters import normal_words

QUESTION = "If Ann buys three apples and gives two of them away, how many apples are left?"
ALPHABET = "ab AB.,'\n\té日本\u0e01\u0e34İß\U0001f600\x00-"


def grams(words, size):
    return [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]


def oracle(text, references, ngrams, min_words):
    """Count the words of a text at which a listed n-gram begins."""
    listed = set()
    for reference in references:
        words = normal_words(reference)
        if len(words) >= min_words:
            listed.update(grams(words, min(ngrams, len(words))))
    words = normal_words(text)
    sizes = {len(gram) for gram in listed}
    return sum(any(tuple(words[at : at + size]) in listed for size in sizes) for at in range(len(words)))


def scores(stage, texts):
    batch = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    return stage.with_(tag=True).process(batch).data["decontaminate_score"].to_pylist()


@settings(max_examples=80)
@given(
    references=st.lists(st.text(st.sampled_from(ALPHABET), max_size=20), min_size=1, max_size=3),
    texts=st.lists(st.none() | st.text(st.sampled_from(ALPHABET), max_size=40), min_size=1, max_size=4),
    sizes=st.sampled_from([(1, 1), (2, 1), (2, 2), (4, 2)]),
)
def test_matches_are_those_of_a_plain_search(tmp_path_factory, references, texts, sizes):
    file = tmp_path_factory.mktemp("references") / "set.jsonl"
    file.write_text("".join(json.dumps({"question": each}) + "\n" for each in references))
    ngrams, min_words = sizes
    stage = Decontaminate(str(file), ngrams=ngrams, min_words=min_words)
    if not any(len(normal_words(each)) >= min_words for each in references):
        with pytest.raises(ConfigError, match="no text in the references"):
            scores(stage, texts)
        return
    expected = [None if text is None else oracle(text, references, ngrams, min_words) for text in texts]
    assert scores(stage, texts) == expected
    assert [scores(stage, [text])[0] for text in texts] == expected


def test_words_are_lower_case_without_marks_and_one_by_one_in_chinese():
    assert normal_words("Don't — panic: x_y İ ﬁ") == ["dont", "panic", "xy", "İ", "ﬁ"]
    assert normal_words("今天10点。ok") == ["今", "天", "10", "点", "ok"]


def run(stage, texts):
    batch = DocumentBatch(data={"text": texts})
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    return [text for task in result for text in task.data["text"].to_pylist()], dict(result.stats[stage.name].dropped)


@pytest.fixture
def benchmarks(tmp_path):
    """Three sets in three formats."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "arithmetic.jsonl").write_text(json.dumps({"question": QUESTION, "answer": "One.", "n": 1}) + "\n")
    pl.DataFrame({"choices": [["a b c d e f g h i j k l m n", "short"]], "id": [7]}).write_parquet(
        folder / "quiz.parquet"
    )
    (folder / "lines.txt").write_text("eight words are enough to be found here\nseven words are not enough for it\n")
    return folder


def test_the_reason_names_the_benchmark(benchmarks):
    texts = [
        f"Homework. {QUESTION.upper()} Thanks",
        "x a b c d e f g h i j k l m y",
        "Eight words are enough, to be found here!",
        "seven words are not enough for it",
        "nothing",
        None,
        "",
    ]
    kept, dropped = run(Decontaminate(str(benchmarks)), texts)
    assert kept == ["seven words are not enough for it", "nothing", ""]
    assert dropped == {
        "contaminated: arithmetic": 1,
        "contaminated: quiz": 1,
        "contaminated: lines": 1,
        "missing_value": 1,
    }


def test_benchmarks_can_be_named_and_fields_chosen(benchmarks):
    references = {"mine": [str(benchmarks / "arithmetic.jsonl")]}
    assert run(Decontaminate(references, reference_columns=["question"]), [QUESTION])[1] == {"contaminated: mine": 1}
    with pytest.raises(UnknownNameError, match="questoin"):
        scores(Decontaminate(references, reference_columns=["questoin"]), [QUESTION])
    with pytest.raises(ConfigError, match="holds int64"):
        scores(Decontaminate(references, reference_columns=["n"]), [QUESTION])
    with pytest.raises(ConfigError, match="gone"):
        Decontaminate(str(benchmarks / "gone.jsonl")).preflight()
    (benchmarks / "odd.xyz").write_text("x")
    with pytest.raises(ConfigError, match="extension that is not known"):
        Decontaminate(str(benchmarks / "odd.xyz")).preflight()
    with pytest.raises(ConfigError, match="must be between 1 and"):
        Decontaminate(str(benchmarks), ngrams=5)


def test_several_matches_or_a_fraction_can_be_asked_for(benchmarks):
    repeated = "a b c d e f g h i j k l m n"  # two n-grams
    diluted = f"{repeated} {' '.join(f'w{number}' for number in range(100))}"
    references = str(benchmarks / "quiz.parquet")
    assert scores(Decontaminate(references), [repeated, diluted]) == [2, 2]
    assert run(Decontaminate(references, min_matches=3), [repeated])[0] == [repeated]
    assert run(Decontaminate(references, min_fraction=0.5), [repeated, diluted])[0] == [diluted]


def test_common_phrases_are_counted_first_and_then_ignored(benchmarks, tmp_path):
    phrase = "eight words are enough to be found here"
    rare = QUESTION
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for part in range(3):
        rows = [{"text": f"{number} {phrase}. {phrase}"} for number in range(4)] + (
            [{"text": rare}] if part == 0 else []
        )
        (corpus / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    references = str(benchmarks)
    counts = str(tmp_path / "counts")
    read = ReadJsonl(str(corpus), block_bytes=200)
    Pipeline(stages=[read, CountContamination(counts, references=references)]).run(LocalExecutor())
    for limit, expected in ((11, 12), (12, 0)):
        stage = Decontaminate(references, counts=counts, max_matches=limit)
        result = Pipeline(stages=[read, stage]).run(LocalExecutor())
        assert sum(task.num_rows for task in result) == expected
    assert len(build_index(references, ngrams=13, min_words=8, stage="test")) > 3


def test_matches_are_cut_out_with_their_surroundings(benchmarks):
    before, after = "First sentence. " * 40, " Last sentence." * 40
    text = f"{before}Now. {QUESTION}{after}"
    stage = RemoveContamination(str(benchmarks))
    out = stage.process(DocumentBatch(data={"id": [1, 2, 3], "text": [text, "clean", None]})).data.to_pydict()
    assert out["id"] == [1, 1, 2, 3]
    assert out["segment_id"] == [0, 1, 0, 0]
    first, second = out["text"][:2]
    assert before.startswith(first)
    assert after.endswith(second)
    assert len(before) - 230 < len(first) <= len(before) - 180
    assert out["text"][2:] == ["clean", None]
    assert run(Decontaminate(str(benchmarks)), out["text"][:2])[1] == {}


def test_documents_in_too_many_pieces_or_without_any_are_dropped(benchmarks):
    piece = "Some words. "
    text = f"{piece}{QUESTION} " * 4
    options = {"window": 0, "min_length": 5}
    kept, dropped = run(RemoveContamination(str(benchmarks), max_pieces=4, **options), [text])
    assert kept == [piece.strip(), *[f" {piece.strip()}"] * 3]
    assert dropped == {}
    assert run(RemoveContamination(str(benchmarks), max_pieces=3, **options), [text])[1] == {
        "contaminated: too many pieces": 1
    }
    assert run(RemoveContamination(str(benchmarks)), [QUESTION])[1] == {"contaminated: nothing left": 1}


@settings(max_examples=60)
@given(texts=st.lists(st.none() | st.text(st.sampled_from("ab.! é日\n"), max_size=60), min_size=1, max_size=4))
def test_what_is_left_has_no_match_and_comes_from_the_text(tmp_path_factory, texts):
    file = tmp_path_factory.mktemp("references") / "set.txt"
    file.write_text("a b a b\nb 日 é\n")
    options = {"ngrams": 3, "min_words": 3, "window": 1, "min_length": 1, "max_pieces": 100}
    stage = RemoveContamination(str(file), **options)
    table = pa.table({"text": pa.array(texts, pa.string()), "n": list(range(len(texts)))})
    out = stage.process(DocumentBatch(data=table)).data.to_pylist()
    singles = [
        row
        for at in range(len(texts))
        for row in stage.process(DocumentBatch(data=table.slice(at, 1))).data.to_pylist()
    ]
    assert out == singles
    for row in out:
        assert row["text"] is None or row["text"] in texts[row["n"]]
    left = [row["text"] for row in out]
    if left:
        judged = scores(Decontaminate(str(file), ngrams=3, min_words=3), left)
        assert not any(judged)


def test_a_huge_document(benchmarks):
    text = "plain words without end " * 200_000
    assert scores(Decontaminate(str(benchmarks)), [text, f"{text}{QUESTION}"]) == [0, 4]
