"""Filters by lists, strings, patterns and lengths: what is kept, what is dropped and why."""

import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError
from curator_text import DocumentBatch, Length, PornographicUrls, Regex, Substring, UrlBlocklist, WordBlocklist

TEXTS = st.lists(
    st.none() | st.text(max_size=12) | st.text(st.sampled_from("abdmn $-_.é日\n"), max_size=15), min_size=1
)


def kept(stage, values, column="text", **more):
    batch = DocumentBatch(data=pa.table({column: pa.array(values, pa.string()), **more}))
    result = Pipeline(stages=[stage]).run(LocalExecutor(), initial_tasks=[batch])
    rows = [value for task in result for value in task.data[column].to_pylist()]
    return rows, dict(result.stats[stage.name].dropped)


def test_length_in_every_unit():
    texts = ["", "ab", "é é", "é é é é", None]
    assert kept(Length(min_length=2, max_length=3), texts) == (
        ["ab", "é é"],
        {"too_short": 1, "too_long": 1, "missing_value": 1},
    )
    assert kept(Length(unit="bytes", max_length=4), texts)[0] == ["", "ab"]
    assert kept(Length(unit="words", min_length=2), texts)[0] == ["é é", "é é é é"]
    with pytest.raises(ConfigError, match="no limit"):
        Length()
    with pytest.raises(ConfigError, match="is more than"):
        Length(min_length=3, max_length=2)


@pytest.mark.parametrize(
    ("position", "expected"), [("prefix", ["a.b", "a."]), ("suffix", ["b a.", "a."]), ("any", ["a.b", "b a.", "a."])]
)
def test_substring_is_literal(position, expected):
    assert kept(Substring("a.", position=position), ["a.b", "b a.", "a.", "axb", ""])[0] == expected


def test_regex_counts_and_can_keep():
    texts = ["x1", "x1 y2", "none", None]
    assert kept(Regex(r"\d"), texts) == (["none"], {"matched": 2, "missing_value": 1})
    assert kept(Regex(r"\d", min_matches=2), texts)[0] == ["x1", "none"]
    assert kept(Regex(r"\d", action="keep", min_matches=2), texts) == (
        ["x1 y2"],
        {"not_matched": 2, "missing_value": 1},
    )
    with pytest.raises(ConfigError, match="no look-around"):
        Regex("(?=x)")


@given(
    text=st.text(st.sampled_from("https:/porn.% \n^{é"), max_size=40)
    | st.just("http://a.b/x^porn")
    | st.just("http://é-porn")
)
def test_pornographic_urls_as_nemo_curator_finds_them(text):
    urls = re.findall(r"http[s]?://(?:[a-zA-Z]|[0-9]|[$-_@.&+]|[!*\(\),]|(?:%[0-9a-fA-F][0-9a-fA-F]))+", text)
    rows, _ = kept(PornographicUrls(), [text])
    assert bool(rows) == (not any("porn" in url for url in urls))


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.com/", "blocked_domain"),
        ("http://user:pw@A.B.Example.COM.:8080/path?x#y", "blocked_domain"),
        ("example.com/no-scheme", "blocked_domain"),
        ("//example.com", "blocked_domain"),
        ("https://example.com:443", "blocked_domain"),
        ("https://bücher.de/", "blocked_domain"),
        ("https://xn--bcher-kva.de/", "blocked_domain"),
        ("https://sub.blocked.xxx/", "blocked_domain"),
        ("https://notexample.com/", None),
        ("https://example.com.evil.org/", None),
        ("https://other.org/?to=example.com", None),
        ("https://other.org/best_CASINO-bonus", "blocked_url_word"),
        ("https://other.org/casinos", None),
        ("https://other.org/xspamx", "blocked_url_string"),
        ("https://[2001:db8::1]/", None),
        ("", None),
        ("\x00 not a url", None),
    ],
)
def test_url_blocklist(url, reason):
    stage = UrlBlocklist(domains=["example.com", "bücher.de", "xxx"], words=["Casino"], substrings=["SPAM"], lists=[])
    rows, dropped = kept(stage, [url], column="url")
    assert dropped == ({reason: 1} if reason else {})
    assert rows == ([] if reason else [url])


def test_packaged_and_own_lists_of_urls(tmp_path):
    (tmp_path / "domains.txt").write_text("# mine\nhttps://mine.net/\n\n*.more.net\n")
    (tmp_path / "words.txt").write_text("betting\n")
    urls = [
        "https://de.pornhub.com/v",
        "https://x.mine.net",
        "https://more.net",
        "https://a.org/milf",
        "https://a.org/betting",
        "https://ok.org",
        None,
    ]
    stage = UrlBlocklist(domain_files=str(tmp_path / "domains.txt"), word_files=[str(tmp_path / "words.txt")])
    assert kept(stage, urls, column="url") == (
        ["https://ok.org"],
        {"blocked_domain": 3, "blocked_url_word": 2, "missing_value": 1},
    )
    with pytest.raises(ConfigError, match="gone"):
        UrlBlocklist(domain_files=str(tmp_path / "gone.txt")).preflight()
    with pytest.raises(ConfigError, match="nothing to block"):
        UrlBlocklist(lists=[])
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        UrlBlocklist(domain_files=str(tmp_path / "latin.txt")).preflight()


def c4_count(text, words):
    """How often listed words stand between non-word characters; what follows one may precede the next."""
    entries = "|".join(sorted((re.escape(word) for word in words), key=len, reverse=True))
    return sum(1 for _ in re.finditer(rf"(?<!\w)(?:{entries})(?!\w)", text.lower()))


@settings(max_examples=200)
@given(text=st.text(st.sampled_from("damnDx $-_.,'é\n"), max_size=25))
def test_words_are_found_whole_as_c4_finds_them(text):
    words = ["damn", "a$$", "nd"]
    assert bool(kept(WordBlocklist(words=words), [text])[0]) == (c4_count(text, words) == 0)


def test_word_counts_fractions_and_phrases():
    texts = ["bad bad word", "bad, three other words", "go-to  place", "BAD\nword", "embadded"]
    assert kept(WordBlocklist(words=["bad"], max_count=1), texts)[0] == texts[1:]
    by_fraction = WordBlocklist(words=["bad"], max_count=None, max_fraction=0.3)
    assert kept(by_fraction, texts)[0] == [texts[1], texts[2], texts[4]]
    assert kept(WordBlocklist(words=["go to place"]), texts)[0] == [*texts[:2], *texts[3:]]
    assert kept(WordBlocklist(words=["bad"], whole_words=False), texts)[0] == ["go-to  place"]


def test_words_by_language(tmp_path):
    (tmp_path / "de.txt").write_text("schlecht\n")
    stage = WordBlocklist(
        words={"zh": ["坏话"], "en": ["bad"]}, word_files={"de": str(tmp_path / "de.txt")}, language_column="language"
    )
    texts = ["这是坏话吧", "bad", "bad", "schlecht!", "schlecht", None]
    languages = pa.array(["zh", "en", "de", "de", None, "en"])
    rows, dropped = kept(stage, texts, language=languages)
    assert rows == ["bad", "schlecht"]
    assert dropped == {"blocked_words": 3, "missing_value": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no words are given"),
        ({"words": {"en": ["x"]}}, "need a column"),
        ({"words": ["x"], "max_count": None}, "no limit"),
    ],
)
def test_wrong_options_for_words_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        WordBlocklist(**options)


STAGES = [
    Length(max_length=5),
    Substring("a"),
    Regex("[ab]+", min_matches=2),
    PornographicUrls(),
    UrlBlocklist(domains=["m.n"], substrings=["dm"], url_column="text"),
    WordBlocklist(words=["a", "d$", "日", "b-m"], max_fraction=0.2),
]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
@settings(max_examples=40)
@given(texts=TEXTS)
def test_batch_equals_singles(stage, texts):
    table = pa.table({"text": pa.array(texts, pa.string()), "n": list(range(len(texts)))})

    def rows(part):
        out = stage.process(DocumentBatch(data=part))
        return [] if out is None else out.data.to_pylist()

    assert rows(table) == [row for index in range(len(texts)) for row in rows(table.slice(index, 1))]
