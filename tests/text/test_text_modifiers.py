"""The stages that change documents, against plain-Python statements of what they promise."""

import re

import ftfy
import polars as pl
import pyarrow as pa
import pytest
from ftfy.badness import BADNESS_RE
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core.values.errors import ConfigError, StageError
from curator_text import (
    DocumentBatch,
    FasttextLabel,
    FixUnicode,
    NormalizeNewlines,
    NormalizeWhitespace,
    RemoveBoilerplate,
    RemoveLines,
    RemoveMarkdown,
    RemoveQuotation,
    RemoveUrls,
    Slice,
    SplitDocuments,
)
from curator_text.modifiers.remove import BOILERPLATE_PHRASES

ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=40)
MESSY = st.text(st.sampled_from('ab \t\n\r\x0b\x1c\x1f\x85\u2028\u00a0\u3000\u200b\ufeff"*_`#[]()<>&;.:/\x00'))
MOJIBAKE = st.text(
    st.sampled_from([*sorted({each for each in BADNESS_RE.pattern if each > "\x7f"}), *"aB \n<&;#\x85\r"])
)
TEXTS = st.lists(st.none() | MESSY | ANY_TEXT, min_size=1, max_size=6)
MODIFIERS = [
    FixUnicode(),
    NormalizeNewlines(),
    NormalizeNewlines(max_newlines=1, unify=True),
    NormalizeWhitespace(),
    NormalizeWhitespace(newlines="space", zero_width=True),
    RemoveUrls(replacement="$1"),
    RemoveMarkdown(),
    RemoveMarkdown(nemo=True),
    RemoveQuotation(),
    RemoveLines(lines=["a", ""], patterns=["b$"], where="length(line) > 9", strip=True),
    RemoveLines(lines=["a b"], ignore_case=True),
    RemoveBoilerplate(),
    Slice(left=1, right=-2),
    Slice(left="a", right="b"),
    FasttextLabel("__label__a"),
    SplitDocuments(separator="a"),
]


def apply(stage, texts):
    batch = DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())}))
    return stage.process(batch).data["text"].to_pylist()


def label(stage):
    return f"{stage.name}-{MODIFIERS.index(stage)}"


@pytest.mark.parametrize("stage", MODIFIERS, ids=label)
@settings(max_examples=25)
@given(texts=TEXTS)
def test_batch_equals_singles_and_nulls_stay(stage, texts):
    singles = [each for text in texts for each in apply(stage, [text])]
    assert apply(stage, texts) == singles
    assert apply(stage, [None]) == [None]


@pytest.mark.parametrize("stage", MODIFIERS, ids=label)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_type_position_and_neighbours_are_kept(stage, kind):
    table = pa.table({"id": [1, 2, 3], "text": pa.array(["a", "", None], kind), "more": ["x", "y", "z"]})
    after = stage.process(DocumentBatch(data=table, task_id="7", meta={"a": 1}))
    assert (after.task_id, after.meta) == ("7", {"a": 1})
    assert after.data.schema.field("text") == table.schema.field("text")
    assert after.data.column_names[:3] == ["id", "text", "more"]
    if not isinstance(stage, SplitDocuments):
        assert after.data["more"].to_pylist() == ["x", "y", "z"]


@pytest.mark.parametrize(
    "stage", [each for each in MODIFIERS if "normalize" in each.name or each.name == "text.fix_unicode"], ids=label
)
@settings(max_examples=40)
@given(text=MESSY | ANY_TEXT)
def test_normalisers_are_idempotent(stage, text):
    once = apply(stage, [text])
    assert apply(stage, once) == once


@pytest.mark.parametrize("stage", MODIFIERS, ids=label)
def test_a_huge_document_and_control_characters_pass(stage):
    huge = "word \x00\x07 and [a](b) **c**\n\n\n\n" * 10_000
    assert len(apply(stage, [huge])[0]) <= len(huge) + 20


def test_a_column_that_is_not_text_is_an_error():
    with pytest.raises(StageError, match="'text' holds int64"):
        RemoveUrls().process(DocumentBatch(data={"text": [1]}))


@given(texts=st.lists(st.none() | MOJIBAKE | MESSY, min_size=1, max_size=5))
def test_fix_unicode_is_ftfy(texts):
    config = ftfy.TextFixerConfig(
        fix_latin_ligatures=False,
        fix_character_width=False,
        uncurl_quotes=False,
        fix_line_breaks=False,
        normalization=None,
        explain=False,
    )
    assert apply(FixUnicode(), texts) == [None if text is None else ftfy.fix_text(text, config) for text in texts]


@given(
    text=MOJIBAKE
    | ANY_TEXT
    | st.text(st.sampled_from("\ufb01\u0133\uff21\uff71\u2018\u201d\u2028e\u0301\x1b[3m&lt;\n<")),
    options=st.fixed_dictionaries(
        {
            "unescape_html": st.sampled_from(["auto", True, False]),
            "normalization": st.sampled_from([None, "NFC", "NFKD"]),
            **{
                name: st.booleans()
                for name in (
                    "fix_encoding",
                    "fix_c1_controls",
                    "fix_latin_ligatures",
                    "fix_character_width",
                    "uncurl_quotes",
                    "fix_line_breaks",
                    "remove_terminal_escapes",
                    "remove_control_chars",
                )
            },
        }
    ),
)
def test_fix_unicode_is_ftfy_with_any_options(text, options):
    assert apply(FixUnicode(**options), [text]) == [ftfy.fix_text(text, ftfy.TextFixerConfig(**options, explain=False))]


@given(text=MESSY)
def test_newlines_as_nemo_curator_does_them(text):
    expected = re.sub(r"(\r\n){3,}", "\r\n\r\n", re.sub(r"\n{3,}", "\n\n", text))
    assert apply(NormalizeNewlines(), [text]) == [expected]


@given(text=MESSY | ANY_TEXT)
def test_whitespace_keeps_words_and_leaves_single_spaces(text):
    (clean,) = apply(NormalizeWhitespace(), [text])
    assert clean.split() == text.split()
    assert clean == clean.strip()
    assert not re.search(r" {2}|[^\S\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029 ]|[\n\r] | [\n\r]", clean)
    assert apply(NormalizeWhitespace(newlines="space"), [text]) == [" ".join(text.split())]


@given(text=MESSY | st.text(st.sampled_from("htTpsw:/.\x1c a\u00a0é")) | st.just("a http://b.c/d, WWW.e\u2003f"))
def test_urls_as_nemo_curator_removes_them(text):
    known = r"https?://\S+|s?ftps?://\S+|www\.\S+"
    assert apply(RemoveUrls(), [text]) == [re.sub(known, "", text, flags=re.IGNORECASE)]


def test_nothing_is_left_of_an_address_of_ftp():
    assert apply(RemoveUrls(), ["a ftp://www.example.org/x b SFTP://host/y c"]) == ["a  b  c"]


@given(text=st.text(st.sampled_from("*_[]()ab \n")))
def test_markdown_as_nemo_curator_removes_it(text):
    expected = text
    for pattern in (r"\*\*(.*?)\*\*", r"\*(.*?)\*", r"_(.*?)_", r"\[.*?\]\((.*?)\)"):
        expected = "\n".join(re.sub(pattern, r"\1", line) for line in expected.split("\n"))
    assert apply(RemoveMarkdown(nemo=True), [text]) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "# Title #\n\nA **bold** and *italic* and __b__ and _i_ word.",
            "Title\n\nA bold and italic and b and i word.",
        ),
        ("***both*** ~~gone~~", "both gone"),
        ("snake_case_name, a__b__c, 2 * 3 * 4", "snake_case_name, a__b__c, 2 * 3 * 4"),
        ('![logo](a.png) [text](http://x.y/(z) "t") [ref]', "logo text [ref]"),
        ("```python\nx = 1\n```\nUse `x`.", "x = 1\nUse x."),
        ("> quoted\n> more\n\n---\nrest", "quoted\nmore\n\nrest"),
        ("- item *one*\n* item two", "- item one\n* item two"),
        ("#hashtag and # not heading", "#hashtag and # not heading"),
    ],
)
def test_markdown_by_example(text, expected):
    assert apply(RemoveMarkdown(), [text]) == [expected]


def test_links_keep_what_is_asked_for():
    text = "see [here](https://example.org/a_b)"
    assert apply(RemoveMarkdown(links="url"), [text]) == ["see https://example.org/a_b"]
    assert apply(RemoveMarkdown(links="both"), [text]) == ["see here (https://example.org/a_b)"]


@given(text=st.text(st.sampled_from('"a \n')))
def test_quotation_as_nemo_curator_removes_it(text):
    expected = text
    if (
        len(text.strip()) > 2
        and text[0] == '"' == text[-1]
        and ("\n" not in text.strip() or text.split("\n")[0][-1] != '"')
    ):
        expected = text[1:-1]
    assert apply(RemoveQuotation(), [text]) == [expected]


@given(
    text=st.text(st.sampled_from("abA \n")), lines=st.lists(st.text(st.sampled_from("abA ")), min_size=1, max_size=3)
)
def test_lines_as_nemo_curator_removes_them(text, lines):
    expected = "\n".join(line for line in text.split("\n") if line not in lines)
    assert apply(RemoveLines(lines=lines), [text]) == [expected]
    folded = {line.lower().strip() for line in lines}
    expected = "\n".join(line for line in text.split("\n") if line.lower().strip() not in folded)
    assert apply(RemoveLines(lines=lines, ignore_case=True, strip=True), [text]) == [expected]


@given(
    text=st.text(st.sampled_from("ab1 \n")),
    pattern=st.sampled_from(["^a", "b$", r"\d+", r"^\s*$", "^$", r"\Aa", r"a\z"]),
)
def test_lines_are_removed_by_pattern(text, pattern):
    python = re.compile(pattern.replace(r"\z", r"\Z"))
    expected = "\n".join(line for line in text.split("\n") if not python.search(line))
    assert apply(RemoveLines(patterns=[pattern]), [text]) == [expected]


def test_lines_are_removed_by_condition_and_beyond_ascii():
    text = "title\nÜBER UNS\nbody text\nx"
    assert apply(RemoveLines(where="number = 0 OR length(line) < 2"), [text]) == ["ÜBER UNS\nbody text"]
    assert apply(RemoveLines(lines=["über uns"], ignore_case=True), [text]) == ["title\nbody text\nx"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing to remove"),
        ({"lines": ["a\nb"]}, "cannot hold a newline"),
        ({"patterns": ["(?<=a)b"]}, "not a regular expression"),
        ({"where": "length(text) < 3"}, "knows line and number, not text"),
        ({"where": "length(line) <"}, "not a SQL condition"),
    ],
)
def test_wrong_options_for_lines_are_refused(options, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        RemoveLines(**options)


PARAGRAPHS = st.lists(st.sampled_from(["text", "", "Our PRIVACY Policy.", "we use cookies"]), min_size=1, max_size=6)


@given(paragraphs=PARAGRAPHS)
def test_boilerplate_goes_from_both_ends_only(paragraphs):
    is_boilerplate = [any(phrase in each.lower() for phrase in BOILERPLATE_PHRASES) for each in paragraphs]
    content = [index for index, flag in enumerate(is_boilerplate) if not flag]
    if content and not any(is_boilerplate[content[0] : content[-1] + 1]):
        expected = "\n\n".join(paragraphs[content[0] : content[-1] + 1])
    else:
        expected = "\n\n".join(paragraphs)
    assert apply(RemoveBoilerplate(), ["\n\n".join(paragraphs)]) == [expected]


def test_boilerplate_can_empty_documents():
    texts = ["Lorem IPSUM dolor", "fine", "fine\n\nprivacy policy", "ÄGB gelten"]
    assert apply(RemoveBoilerplate(), texts) == ["", "fine", "fine", "ÄGB gelten"]
    strict = RemoveBoilerplate(remove_if_at_top_or_bottom=False, lorem_ipsum=False, phrases=["ägb"])
    assert apply(strict, texts) == [*texts[:3], ""]


@given(
    text=st.text(st.sampled_from("abé \u3000\x1c.*")),
    left=st.integers(-5, 9) | st.sampled_from(["a", "é", ".*", None]),
    right=st.integers(-5, 9) | st.sampled_from(["b", "a", "é ", "aa", None]),
    include_left=st.booleans(),
    include_right=st.booleans(),
    strip=st.booleans(),
)
def test_slice_as_nemo_curator_does(text, left, right, include_left, include_right, strip):
    begin, end = left or 0, right
    if isinstance(left, str):
        begin = text.find(left)
        begin = begin + len(left) * (not include_left) if begin >= 0 else None
    if isinstance(right, str):
        end = text.rfind(right)
        end = end + len(right) * include_right if end >= 0 else -1000
    expected = "" if begin is None else text[begin:end]
    options = {"include_left": include_left, "include_right": include_right, "strip": strip}
    assert apply(Slice(left, right, **options), [text]) == [expected.strip() if strip else expected]


def test_clean_rows_are_shared_not_copied():
    text = pl.Series(["clean text " * 10] * 3)
    assert FixUnicode().rewrite(text) is text
