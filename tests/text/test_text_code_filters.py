"""The filters for source code: comments of many languages, docstrings, markup, tables of limits, histograms."""

import ast
import io
import re
import sys
import tokenize
import warnings

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curator_text
from curator_core import LocalExecutor, Pipeline
from curator_core.values.errors import ConfigError, UnknownNameError
from curator_text import DocumentBatch
from curator_text.code.html_text import text_fraction, text_length
from curator_text.code.python_comments import comment_fraction
from curator_text.filters.per_extension import ExtensionLimits, read_limits
from curator_text.metrics.code import FAMILIES, code_comments
from curator_text.metrics.text_bytes import text_bytes
from tests.support import nemo_oracle as oracle


def tagged(stage, texts):
    out = stage.with_(tag=True).process(DocumentBatch(data=pa.table({"text": pa.array(texts, pa.string())})))
    return [out.data[column].to_pylist() for column in stage.tag_columns]


# What each language's comments are, as regular expressions: literals and oddities, then comments, then broken ones.
QUOTED = r'"[^"\n]*"'
STRING = r"{0}(?:\\.|[^{0}\\])*(?:{0}|\\?\Z)"
C_COMMENT = r"//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|(?P<broken>/\*)"
PATTERNS = {
    "c": f"{QUOTED}|{C_COMMENT}",
    "html": rf"{QUOTED}|<!--(?P<block>.*?)-->|(?P<broken><!--)",
    "javascript": "|".join([*map(STRING.format, "\"'"), C_COMMENT, "/."]),
    "go": "|".join([*map(STRING.format, "\"'`"), C_COMMENT, "/."]),
    "ruby": r"""(["'])(?:\\\1|(?!\1)[^\n])*\1|\#(?P<line>[^\n]*)""",
    "shell": "|".join([*map(STRING.format, "\"'"), r"\\.", r"\#(?P<line>[^\n]*)"]),
}


def comment_chars(source, language):
    comments = []
    for match in re.finditer(PATTERNS[language], source, re.DOTALL):
        groups = match.groupdict()
        if groups.get("broken"):
            return -1
        comments += [groups[kind] for kind in ("line", "block") if groups.get(kind) is not None]
    return len(" ".join(comments))


SNIPPETS = [
    "/",
    "//",
    "/*",
    "*/",
    "*",
    '"',
    "'",
    "`",
    "\\",
    "#",
    "<!--",
    "-->",
    "<!-",
    "->",
    "-",
    "\n",
    "a",
    "é",
    "中 ",
    " ",
]


@pytest.mark.parametrize("language", PATTERNS)
@given(sources=st.lists(st.lists(st.sampled_from(SNIPPETS), max_size=14).map("".join), min_size=1, max_size=20))
def test_comments_are_those_of_the_definitions(language, sources):
    texts = pa.array(sources, pa.large_string())
    found = code_comments(language).measure(text_bytes(DocumentBatch(data={"text": texts}).text("text")))
    assert found["comment_chars"].tolist() == [comment_chars(source, language) for source in sources]
    assert found["chars"].tolist() == [len(source) for source in sources]


def test_comments_to_code_of_many_languages():
    source = {
        "c++": "int x; // a number",
        "shell": "x=1 # a number",
        "html": "<p>x</p><!-- a number -->",
        "python": "x = 1  # a number",
    }
    for language, text in source.items():
        scores, reasons = tagged(curator_text.GeneralCommentToCode(language), [text, "x", "", None])
        comment = " a number " if language == "html" else " a number"
        assert scores == [len(comment) / len(text), 0.0, 0.0, None], language
        assert reasons == [None, "too_few_comments", "too_few_comments", "missing_value"]
    stage = curator_text.GeneralCommentToCode("text/x-c")
    assert tagged(stage, ["/* no end", "// all"]) == [[9999.0, 4 / 6], ["malformed", None]]
    assert tagged(stage, ["//" + "x" * 98]) == [[0.98], ["too_many_comments"]]
    assert tagged(curator_text.GeneralCommentToCode("python"), ["x = (", "'''"]) == [[9999.0] * 2, ["malformed"] * 2]
    with pytest.raises(UnknownNameError, match=r"javascript"):
        curator_text.GeneralCommentToCode("javascrip")
    assert {"text/x-c", "text/x-c++", "text/xml", "application/javascript", "text/x-python"} <= set(FAMILIES)


MODULE = '''"""Module."""
# one
class A:
    """Class."""

    def f(self):
        """Function
        of two lines.
        """
        return "# not a comment"

    async def g(self):
        """Not counted."""
'''


def test_python_comments_and_docstrings():
    counted = len("# one") + len("Module.\nClass.\nFunction\nof two lines.")
    assert comment_fraction(MODULE) == counted / len(MODULE)
    assert tagged(curator_text.PythonCommentToCode(), [MODULE, "x = 1", "# x", None]) == [
        [counted / len(MODULE), 0.0, 1.0, None],
        [None, "too_few_comments", "too_many_comments", "missing_value"],
    ]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = (",
        "\x00",
        "  x\n y",
        "'''",
        "(" * 5000,
        "-" * 200_000 + "1",
        "[" * 150 + "]" * 150,
        "x" + ".y" * 50_000,
        "f'{'",
    ],
    ids=lambda source: f"{source[:6]!r} x {len(source)}",
)
def test_source_that_is_no_python_scores_and_never_raises(source):
    assert tagged(curator_text.PythonCommentToCode(), [source])[0] == [0.0]
    assert tagged(curator_text.GeneralCommentToCode("python"), [source])[0][0] in (0.0, 9999.0)


def fraction_by_definition(source):
    """What the score means, as NeMo Curator computes it: every token, and every node of the tree."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
        docstrings = [text for text in map(ast.get_docstring, nodes) if text]
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError):
        return 0.0
    return (len("".join(comments)) + len("\n".join(docstrings))) / len(source) if source else 0.0


EXPRESSIONS = [
    "1", "'#'", "'''\n# no\n'''", '"""it\'s"""', "r'\\'", "b'\\'#'", "'\\\n#'", "f'{x}#'", "rb'\\\\'", "'a' 'b' \"#\"",
    "(1,  # in\n2)", "x[\n# in\n0]", "1 + \\\n  2", "é", "'\\d'", "lambda: '#'", "f'''{x\n}#'''", "''", '""""""',
    "u'#'", "-x",
]  # fmt: skip
DOCSTRINGS = [
    "'''One.'''", '"Two\\n"', "('three')", "'fo' 'ur'", "b'five'", "f'six'", "r'\\d'", "'''\n  Seven\n    7\n'''",
    "'8'; x",
]  # fmt: skip
LINES = ["# comment", "", "#", "pass", "return", "x = 1; y = 2  # both", "\\\nx", "#!é", "match = 1"]
HEADS = [
    "def f(a='#'):", "async def g():", "class A:", "class B(A, x='#'):", "if x:", "while x:", "for i in x:", "with x:",
    "async def h():  # why", "def k(\n  # in\n):",
]  # fmt: skip
ODDITIES = ["\\", "\\\n", "\r", "\f", "\t", "\ufeff", "\x00", "'", '"', '"""', "#", "\n", " ", "(", ")", "}", ":", "é"]


def block(*lines):
    return "".join(f"    {line}\n" for line in "\n".join([*lines, "pass"]).split("\n"))


STATEMENTS = st.recursive(
    st.sampled_from([*EXPRESSIONS, *DOCSTRINGS, *map("x = {}  # c".format, EXPRESSIONS), *LINES]),
    lambda inner: st.one_of(
        st.builds(lambda head, *body: f"{head}\n{block(*body)}", st.sampled_from(HEADS), inner, inner),
        st.builds(lambda one, two: f"try:\n{block(one)}except E:\n{block(two)}finally:\n{block(two)}", inner, inner),
        inner.map(lambda one: f"if x:\n{block(one)}elif y:\n{block(one)}else:\n{block(one)}"),
        inner.map(lambda one: f"match x:\n    case 1:\n{block(block(one))}"),
    ),
    max_leaves=8,
)
MODULES = st.lists(STATEMENTS, max_size=5).map("\n".join)


@given(
    source=MODULES,
    end=st.sampled_from(["", "\n", "\\", "\\\n", "\n# end"]),
    newline=st.sampled_from(["\n", "\n", "\r\n", "\r"]),
)
def test_python_comments_are_those_of_the_definition(source, end, newline):
    source = (source + end).replace("\n", newline)
    assert comment_fraction(source) == fraction_by_definition(source)


@given(source=MODULES, data=st.data())
def test_comments_of_broken_python_are_those_of_the_definition(source, data):
    for oddity in data.draw(st.lists(st.sampled_from(ODDITIES), min_size=1, max_size=3)):
        at = data.draw(st.integers(0, len(source)))
        source = source[:at] + oddity + source[at:]
    assert comment_fraction(source) == fraction_by_definition(source)


def test_dubious_escapes_are_no_reason_to_refuse_a_file():
    assert comment_fraction('x = "\\d"  # a') == 3 / 13  # pytest makes errors of warnings


def test_text_of_html():
    pages = {
        "<p>a &amp; b</p>  <p>c</p>": "a & b c",
        "<p>a</p>\n \n<p>b</p>": "a\nb",
        "<pre>  \n </pre>": "  \n ",
        "<script>x</script>y<style>z</style>": "y",
        "<template>x<b>y</b></template><ruby>漢<rp>(</rp><rt>kan</rt></ruby>": "漢",
        "<!DOCTYPE html><!-- no --><?pi no?>yes<![CDATA[too]]>": "yestoo",
        "a<br>b<br/>c</br>d": "abcd",
        "<link> </link> <p>x": " x",  # an end tag that is not needed is overlooked: the white space is one run
        "&#9;&#10;<i>x</i>": "\nx",
        "&unknown; &eacute;": "&unknown é",
        "<template>x<![CDATA[y]]></template><script><![CDATA[z]]></script>": "y",
        "</b>x</i>": "x",
    }
    for page, text in pages.items():
        assert text_length(page) == len(text), page
    assert text_length("<![bad") >= 0


def test_html_boilerplate():
    text = "word " * 30
    pages = [f"<p>{text}</p>", f"<p>{text}</p><script>{'x' * 700}</script>", "<p>short</p>", "", None]
    scores, reasons = tagged(curator_text.HtmlBoilerplate(), pages)
    assert scores == [150 / 157, 0.0 + 150 / 874, 0.0, 0.0, None]
    assert reasons == [None, "too_little_text", "too_little_text", "too_little_text", "missing_value"]
    assert text_fraction("<p>short</p>", min_chars=5) == 5 / 12


@given(
    page=st.text()
    | st.lists(st.sampled_from(["<", ">", "</", "<!", "<![", "]]>", "&", "&#", ";", "p", "script", "a"])).map("".join)
)
def test_any_page_has_a_text(page):
    assert 0 <= text_length(page) <= max(len(page), 1)


TABLE = """language,extension,Include,Long_line_threshold,Alphanum_threshold,Alpha filter
python,py,1,40,0.25,0.5
python,pyc,0,,,
c-sharp,cs,1,,,
go,,1,1000,,
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "limits.csv"
    path.write_text(TABLE, encoding="utf-8")
    return str(path)


def test_limits_per_extension(table):
    assert read_limits(table, "Python", "py") == ExtensionLimits(True, 40, 0.25, 0.5)
    assert read_limits(table, "C#", "cs") == ExtensionLimits(True)
    assert read_limits(table, "go", "") == ExtensionLimits(True, 1000)
    assert read_limits(table, "python", "unheard") == ExtensionLimits(include=False)
    texts = ["letters", "x" * 41, "é" * 9, "ab12", "ab123", "", None]
    scores, reasons = tagged(curator_text.PerExtension("python", "py", table), texts)
    assert scores == [1, 0, 0, 1, 0, 1, None]
    assert reasons == [None, "line_too_long", "too_few_alphanumeric", None, "too_few_letters", None, "missing_value"]
    assert tagged(curator_text.PerExtension("python", "pyc", table), ["x", ""]) == [
        [0, 0],
        ["extension_not_included"] * 2,
    ]
    assert tagged(curator_text.PerExtension("go", "", table), ["\n".join(["x" * 101] * 3)])[1] == ["mean_line_too_long"]


@given(texts=st.lists(st.text(st.sampled_from("aé中1\n \u0345")) | st.text(max_size=20), min_size=1))
def test_lines_and_letters_of_code(texts):
    from curator_text.metrics.code import CODE_LINES

    texts = [text for text in texts if text.isascii() or set(text) <= set("aé中1\n \u0345")]
    found = CODE_LINES.measure(text_bytes(DocumentBatch(data=pa.table({"t": pa.array(texts, pa.string())})).text("t")))
    assert found["longest_line"].tolist() == [oracle.longest_line(text) for text in texts]
    assert found["letters"].tolist() == [oracle.letters(text) for text in texts]
    means = (found["chars"] + 1) / found["lines"] - 1
    assert means.tolist() == [oracle.mean_line(text) for text in texts]


def test_a_table_that_cannot_be_used_is_an_error(table, tmp_path):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    cases = [
        (table, "cobol", "no row"),
        (str(tmp_path / "none.csv"), "go", "cannot read"),
        (str(tmp_path / "other.csv"), "go", "no column"),
    ]
    for path, language, message in cases:
        with pytest.raises(ConfigError, match=message):
            read_limits(path, language, "x")


def test_histogram(tmp_path):
    path = tmp_path / "en"
    path.write_text("e 9\na 8\n  7\nb 6\n\n] 1\nz 1\n", encoding="utf-8")
    stage = curator_text.Histogram(path=str(path))
    texts = ["abe a", " \n ab \n", "abzzz", "aaaaz", "ab\nab]", "", "中", None]
    scores, reasons = tagged(stage, texts)
    assert scores == [1.0, 2 / 7, 2 / 5, 4 / 5, 5 / 6, 0.0, 0.0, None]
    assert [reason is None for reason in reasons] == [True, False, False, False, True, False, False, False]
    assert reasons[3] == "uncommon_characters"  # exactly at the limit is not enough


@given(texts=st.lists(st.text(st.sampled_from("ab \n\u3000é中\x1cz")), min_size=1, max_size=10))
def test_known_characters_are_those_between_white_space(texts):
    from curator_text.metrics.surface import known_characters

    known = set("ab é\u3000\n")
    batch = DocumentBatch(data=pa.table({"t": pa.array(texts, pa.string())}))
    found = known_characters("".join(sorted(known))).of(batch, "t")["known_chars"].to_list()
    assert found == [sum(each in known for each in text.strip()) for text in texts]


def test_a_histogram_that_cannot_be_used_is_an_error(tmp_path):
    (tmp_path / "none").write_text("]\na", encoding="utf-8")
    for name, message in (("missing", "cannot read"), ("none", "lists no character")):
        with pytest.raises(ConfigError, match=message):
            tagged(curator_text.Histogram(path=str(tmp_path / name)), ["a"])


def test_code_filters_run_in_a_pipeline_with_threads():
    batches = [DocumentBatch(data={"text": [MODULE * count, "x"]}) for count in range(1, 9)]
    stages = [curator_text.PythonCommentToCode(), curator_text.Alpha(), curator_text.NumberOfLinesOfCode()]
    result = Pipeline(stages=stages).run(LocalExecutor(threads=2), initial_tasks=batches)
    assert sum(task.num_rows for task in result) == 8
    assert result.stats["python_comment_to_code"].dropped == {"too_few_comments": 8}


def test_recursion_limit_is_left_as_it_was():
    before = sys.getrecursionlimit()
    comment_fraction("(" * 5000)
    assert sys.getrecursionlimit() == before
