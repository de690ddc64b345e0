"""NeMo Curator's heuristic and repetition filters: their limits, and their scores against plain Python."""

import sys
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curator_text
from curator_core import TableBatch
from curator_core.authoring.recording import Recording
from curator_core.values.errors import ConfigError, StageError
from curator_text import DocumentBatch
from curator_text.filters.heuristics import nemo_english
from curator_text.kernels import surface_tables
from curator_text.metrics.boilerplate_strings import PLACEHOLDER, STRINGS
from tests.support import nemo_oracle as oracle

STAGES = {
    "non_alpha_numeric": (curator_text.NonAlphaNumeric(), oracle.non_alpha_numeric),
    "non_alpha_numeric_ascii": (curator_text.NonAlphaNumeric(ascii_only=True), oracle.non_alpha_numeric_ascii),
    "symbols_to_words": (curator_text.SymbolsToWords(), oracle.symbols_to_words),
    "numbers": (curator_text.Numbers(), oracle.numbers),
    "urls": (curator_text.Urls(), oracle.urls),
    "bullets": (curator_text.Bullets(), oracle.bullets),
    "white_space": (curator_text.WhiteSpace(), oracle.white_space),
    "parentheses": (curator_text.Parentheses(), oracle.parentheses),
    "long_word": (curator_text.LongWord(), oracle.long_word),
    "word_count": (curator_text.WordCount(), oracle.word_count),
    "boiler_plate_string": (
        curator_text.BoilerPlateString(),
        lambda text: oracle.boiler_plate_string(text, STRINGS),
    ),
    "mean_word_length": (curator_text.MeanWordLength(), oracle.mean_word_length),
    "punctuation": (curator_text.Punctuation(), oracle.punctuation),
    "ellipsis": (curator_text.Ellipsis(), oracle.ellipsis),
    "common_english_words": (curator_text.CommonEnglishWords(), oracle.common_english_words),
    "words_without_alphabets": (curator_text.WordsWithoutAlphabets(), oracle.words_without_alphabets),
    "repeated_lines": (curator_text.RepeatedLines(), oracle.repeated_lines),
    "repeated_paragraphs": (curator_text.RepeatedParagraphs(), oracle.repeated_paragraphs),
    "repeated_lines_by_char": (curator_text.RepeatedLinesByChar(), oracle.repeated_lines_by_char),
    "repeated_paragraphs_by_char": (curator_text.RepeatedParagraphsByChar(), oracle.repeated_paragraphs_by_char),
    "alpha": (curator_text.Alpha(), oracle.alpha),
    "number_of_lines_of_code": (curator_text.NumberOfLinesOfCode(), oracle.number_of_lines_of_code),
}
N_GRAM_LENGTHS = (1, 2, 3, 4, 5, 8, 10, 12)


def agree_on(character):
    """Whether this Python's Unicode and that of the packaged table both have a character, or neither."""
    is_content = bool(surface_tables.surface_tables().kinds[ord(character)] & surface_tables.CONTENT)
    return is_content == (unicodedata.category(character)[0] in "LMN" or character in surface_tables.PROSE_MARKS)


WHITE_SPACE = "".join(chr(point) for point in range(sys.maxunicode + 1) if chr(point).isspace())
PIECES = [
    *WHITE_SPACE,
    *"\b\x00aéß中ก9٣Ⅷ\u0345\u200b\ufeff\U0001f600#h.?!\"'()[]⟨}%kvmKVM\u212aİ",
    *surface_tables.BULLETS,
    *["the", "The", "of", "and", "be", "to", "that", "have", "with", "##", "#a#", "#a#b", "%2"],
    *oracle.ELLIPSES,
    *["READ more..", "\n\n", "\n\n\n", "http://", "https://a", "http://a.b/c%20d", "https://x.y/?a=(b),c!", "https:/x"],
    *[
        "http://%zz",
        "hhttp://a",
        "privacy ",
        "cookies ",
        "pr\u0130vacy policy",
        "coo\u212aie policy",
        "use coo\u212aIES",
    ],
    *[PLACEHOLDER, *STRINGS, STRINGS[0].upper()],
]
CHARACTERS = st.characters(exclude_categories=["Cs"]).filter(agree_on)
TEXTS = st.text(CHARACTERS) | st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
WORDY_TEXTS = st.lists(
    st.sampled_from(["a ", "b ", "ab ", "ba ", "b\n", "a  ", "a", "é ", "中\u3000"]), max_size=80
).map("".join)


def tagged(stage, texts):
    """Scores and reasons of a stage for each text."""
    out = stage.with_(tag=True).process(DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())})))
    return [out.data[column].to_pylist() for column in stage.tag_columns]


def scores(stage, texts):
    return tagged(stage, texts)[0]


@given(texts=st.lists(st.none() | TEXTS, min_size=1, max_size=8))
def test_every_score_is_that_of_plain_python(texts):
    batch = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    for name, (stage, expected) in STAGES.items():
        out = stage.with_(tag=True).process(batch).data[stage.tag_columns[0]].to_pylist()
        assert out == [None if text is None else expected(text) for text in texts], name


@pytest.mark.parametrize("n", N_GRAM_LENGTHS)
@settings(max_examples=40)
@given(texts=st.lists(TEXTS | WORDY_TEXTS, min_size=1, max_size=4))
def test_repetition_of_n_grams_is_that_of_plain_python(n, texts):
    top = scores(curator_text.RepeatingTopNGrams(n=n), texts)
    assert top == [oracle.repeating_top_n_grams(text, n) for text in texts]
    duplicate = scores(curator_text.RepeatingDuplicateNGrams(n=n), texts)
    assert duplicate == [oracle.repeating_duplicate_n_grams(text, n) for text in texts]


def test_long_documents_and_many_lines():
    words = [f"w{number % 613}" for number in range(5000)]
    lines = [f"line {number % 97}" for number in range(400)]
    texts = [" ".join(words), "\n".join(lines), "\n\n".join(lines), "x" * 200_000, "a b " * 2000]
    for name, (stage, expected) in STAGES.items():
        assert scores(stage, texts) == [expected(text) for text in texts], name
    for n in (2, 5, 10):
        assert scores(curator_text.RepeatingTopNGrams(n=n), texts) == [
            oracle.repeating_top_n_grams(text, n) for text in texts
        ]
        assert scores(curator_text.RepeatingDuplicateNGrams(n=n), texts) == [
            oracle.repeating_duplicate_n_grams(text, n) for text in texts
        ]


def test_the_tables_are_right_about_every_character():
    if unicodedata.unidata_version != "14.0.0":
        pytest.skip("the packaged table has Unicode 14.0, this Python another version")
    kinds = surface_tables.surface_tables().kinds.tolist()
    alphabetic = oracle.alphabetic()
    for point in range(sys.maxunicode + 1):
        if 0xD800 <= point <= 0xDFFF:
            continue
        character = chr(point)
        category = unicodedata.category(character)
        bits = (
            character.isspace(),
            category == "Nd",
            character in alphabetic,
            category[0] in "LMN" or character in "\n?!,.",
            character in "(){}[]⟨⟩",
            character in oracle.BULLETS,
            character.isalpha(),
        )
        assert kinds[point] == sum(holds << bit for bit, holds in enumerate(bits)), hex(point)


LIMITS = [
    (curator_text.NonAlphaNumeric(), "abc#", "ab##", "too_many_symbols"),
    (curator_text.NonAlphaNumeric(ascii_only=True), "abc#", "été!", "too_many_symbols"),
    (curator_text.SymbolsToWords(), "a b c d e f g h i #", "a b c d e f g h #", "too_many_symbol_words"),
    (curator_text.Numbers(), "a" * 17 + "123", "a" * 16 + "123", "too_many_digits"),
    (curator_text.Urls(), "http://ab " + "x" * 35, "http://ab " + "x" * 34, "too_many_urls"),
    (curator_text.Bullets(), "• a\n" * 9 + "b", "\n ‣ a" * 10, "too_many_bullets"),
    (curator_text.WhiteSpace(), "abc ", "ab\t", "too_much_white_space"),
    (curator_text.Parentheses(), "f" * 9 + "(", "f" * 8 + "⟨", "too_many_parentheses"),
    (curator_text.LongWord(), "é" * 1000, "é" * 1001, "word_too_long"),
    (curator_text.WordCount(), "w " * 50, "w " * 49, "too_few_words"),
    (curator_text.WordCount(), "w " * 100_000, "w " * 100_001, "too_many_words"),
    (curator_text.BoilerPlateString(), "a\n\nb\n\n\n\nTerms of Use\n\nuse cookies", "a\n\nUSES COOKIES", "boilerplate"),
    (curator_text.BoilerPlateString(), "a\n\nb", "a\n\nb\n\nc\n\nd\n\nLorem ipsum", "boilerplate"),
    (curator_text.MeanWordLength(), "aaa", "aa aa", "mean_word_too_short"),
    (curator_text.MeanWordLength(), "a" * 10, "a" * 11, "mean_word_too_long"),
    (curator_text.Punctuation(), "a\n" * 17 + "a.\n" * 3, "a\n" * 18 + "a!\n" * 3, "too_few_end_marks"),
    (curator_text.Ellipsis(), "a\n" * 7 + "a...\n" * 3, "a\n" * 2 + "Read More \n", "too_many_ellipses"),
    (curator_text.CommonEnglishWords(), "the way of it", "THE way of it", "too_few_common_words"),
    (curator_text.WordsWithoutAlphabets(), "a b c d 5", "a b c 4 5", "too_few_words_with_letters"),
    (curator_text.RepeatedLines(), "1\n2\n3\n4\n5\n6\n7\n7\n7\n7", "1\n2\n2", "repeated_lines"),
    (curator_text.RepeatedParagraphs(), "1\n\n2\n\n3\n\n3", "1\n\n2\n\n2", "repeated_paragraphs"),
    (curator_text.RepeatedLinesByChar(), "aaa\nb\nb", "aa\nb\nb", "repeated_lines_by_char"),
    (curator_text.RepeatedParagraphsByChar(), "aaa\n\nb\n\nb", "aa\n\nb\n\nb", "repeated_paragraphs_by_char"),
    (curator_text.RepeatingTopNGrams(), "a b " + "c" * 11, "a b " + "c" * 10, "top_2_gram"),
    (curator_text.RepeatingTopNGrams(n=4), "a b c d " + "e" * 37, "a b c d " + "e" * 30, "top_4_gram"),
    (curator_text.RepeatingDuplicateNGrams(n=5), "a b c d e " * 2 + "f" * 40, "a b c d e " * 9, "duplicate_5_grams"),
    (curator_text.Alpha(), "a123", "a1234", "too_few_letters"),
    (curator_text.NumberOfLinesOfCode(), "\n" * 9, "\n" * 8, "too_few_lines"),
    (curator_text.NumberOfLinesOfCode(), "\n" * 19_999, "\n" * 20_000, "too_many_lines"),
    (curator_text.XmlHeader(), " " * 87 + "<?xml version=", " " * 86 + "<?xml version=", "xml"),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "kept", "dropped", "reason"), LIMITS, ids=lambda each: getattr(each, "name", None))
def test_what_is_at_the_limit_is_kept(stage, kept, dropped, reason):
    recording = Recording()
    with recording.active():
        out = stage.process(DocumentBatch(data={"text": [kept, dropped, None]}))
    assert out.data["text"].to_pylist() == [kept]
    assert recording.dropped == {reason: 1, "missing_value": 1}


OF_NOTHING = {
    "": dict.fromkeys(STAGES, 1.0)
    | dict.fromkeys(["long_word", "word_count", "common_english_words", "boiler_plate_string"], 0)
    | dict.fromkeys(["mean_word_length", "words_without_alphabets", "alpha"], 0)
    | dict.fromkeys(["repeated_lines", "repeated_lines_by_char", "repeated_paragraphs_by_char"], 0),
}


def test_an_empty_document_has_a_score():
    for name, (stage, _) in STAGES.items():
        assert scores(stage, [""]) == [OF_NOTHING[""][name]], name
        assert scores(stage, [None]) == [None], name


def test_a_user_can_say_what_a_url_is():
    stage = curator_text.Urls(url_regex=r"www\.[^\s]+")
    assert scores(stage, ["www.ab", "see www.ab www.cd", "http://ab", ""]) == [1.0, 12 / 17, 0.0, 1.0]
    with pytest.raises(ConfigError, match="is not a regular expression"):
        curator_text.Urls(url_regex="(?=look)")


@pytest.mark.parametrize(
    "layout",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_any_layout_of_a_text_column(layout):
    texts = ["one two", None, "", "drei\u00a0vier fünf\n\nsechs", "six"]
    column = pa.chunked_array([pa.array(texts[:2]).cast(layout), pa.array(texts[2:]).cast(layout)])
    batch = TableBatch(data=pa.table({"text": column}))
    for name, (stage, expected) in STAGES.items():
        out = stage.with_(tag=True).process(batch).data[stage.tag_columns[0]].to_pylist()
        assert out == [None if text is None else expected(text) for text in texts], name


@settings(max_examples=25)
@given(texts=st.lists(st.none() | TEXTS | WORDY_TEXTS, min_size=1, max_size=5))
def test_a_batch_is_judged_like_its_rows(texts):
    for stage in nemo_english():
        together = tagged(stage, texts)
        alone = [tagged(stage, [text]) for text in texts]
        assert together == [[each[k][0] for each in alone] for k in range(2)], stage.name


def test_a_column_that_is_no_text_is_refused():
    with pytest.raises(StageError, match="text was expected"):
        curator_text.Numbers().process(DocumentBatch(data={"text": [1, 2]}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: curator_text.WordCount(min_words=5, max_words=2), "min_words=5 is more than max_words=2"),
        (lambda: curator_text.MeanWordLength(min_length=5, max_length=2), "min_length=5 is more than max_length=2"),
        (lambda: curator_text.NonAlphaNumeric(max_fraction=25), "max_fraction must be between 0 and 1"),
        (lambda: curator_text.RepeatedLines(min_fraction=-0.1), "min_fraction must be between 0 and 1"),
        (lambda: curator_text.RepeatingTopNGrams(n=0), "n must be at least 1"),
        (lambda: curator_text.RepeatingDuplicateNGrams(max_fraction=2), "max_fraction must be between 0 and 1"),
        (lambda: curator_text.LongWord(max_length=0), "max_length must be at least 1"),
    ],
)
def test_impossible_limits_are_refused_at_once(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


PROSE = """The ferry leaves at seven, well before most of the shops open, and it carries more crates than people.
Nobody on board talks much; the engine is loud, the wind is cold, and the coffee has to be drunk quickly.
Half an hour later the island comes out of the mist with its two church towers and a row of painted houses.
A boy waits on the pier to catch the rope, as his father did, and that is all the welcome there will be today."""


def english_documents():
    good = "The cat sat on the mat, and that was the end of it. " * 2
    sentences = [f"This is sentence number {chr(97 + k)} of a text with words to be read." for k in range(26)]
    plain = "\n".join(sentences[:8])
    return [
        *[PROSE, PROSE.replace(".", ""), PROSE + "\n\n" + PROSE, PROSE.upper(), PROSE + " x9" * 60, good, plain],
        *[PROSE + "\n\nTerms of use", "\n".join("• " + each for each in PROSE.split("\n")), None, "", "#" * 99],
        *["\n".join(sentences[:k]) for k in range(26)],
        *[plain + " x9" * k for k in range(30)],
        *[f"{each} " * 9 for each in sentences],
        plain + " https://example.org/" * 9,
    ]


def test_the_english_recipe_drops_what_its_stages_tag():
    texts = english_documents()
    expected = [None] * len(texts)
    for stage in nemo_english():
        for at, reason in enumerate(tagged(stage, texts)[1]):
            expected[at] = expected[at] or reason
    assert len(set(expected)) > 8
    kept = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    for stage in nemo_english():
        kept = stage.process(kept)
    assert kept.data["text"].to_pylist() == [text for text, reason in zip(texts, expected, strict=True) if not reason]


def test_the_english_recipe_has_the_published_filters_and_names_of_their_own():
    names = [stage.name for stage in nemo_english(text_column="body")]
    assert len(names) == len(set(names)) == 28
    assert {stage.text_column for stage in nemo_english(text_column="body")} == {"body"}


def test_neighbouring_filters_measure_a_group_once(monkeypatch):
    import curator_text.kernels.surface as kernels
    from curator_text.metrics.surface import SURFACE

    SURFACE.prepare()  # which calls the kernel too
    calls = []
    original = kernels.surface_counts
    monkeypatch.setattr(kernels, "surface_counts", lambda *args: (calls.append(len(args[2])), original(*args))[1])
    batch = DocumentBatch(data={"text": ["12345", "plain words", "other words"]})
    for stage in (curator_text.Numbers(), curator_text.WhiteSpace(), curator_text.LongWord()):
        batch = stage.process(batch)
    assert batch.num_rows == 2
    assert calls == [3]
