"""A condition is an expression over the columns of a row: it cannot read files or URLs, not even while it is parsed."""

import json
import subprocess
import sys
import time

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core import TableBatch
from curator_core.cli import main
from curator_core.values.errors import ConfigError
from curator_table.stages.scalar_sql import (
    FUNCTIONS,
    MAX_COMPUTED_ITEMS,
    MAX_LENGTH,
    MAX_NESTING,
    MAX_OPERATORS,
    MAX_READ_TWICE,
    TYPES,
    ScalarSqlError,
    scalar_sql,
)
from curator_table.stages.where import Where, parse_condition

QUERIES = [
    "n IN (SELECT x FROM read_csv('FILE'))",
    "n = (SELECT max(x) FROM read_csv('FILE'))",
    "n = ANY(SELECT x FROM read_csv('FILE'))",
    "n > ALL (SELECT x FROM read_csv('FILE'))",
    "EXISTS (SELECT 1 FROM read_csv('FILE'))",
    "NOT EXISTS(SELECT 1)",
    "n IN (sElEcT x FROM read_csv('FILE'))",
    "n IN (/* ' */ SELECT x FROM read_csv('FILE') /* ' */)",
    "n IN (--\nSELECT x FROM read_csv('FILE'))",
    "n IN (\tSELECT\nx\fFROM\rread_csv('FILE'))",
    "n IN (SELECT\N{NO-BREAK SPACE}x FROM read_csv('FILE'))",
    "n IN ((SELECT x FROM read_csv('FILE')))",
    "n IN (WITH t AS (SELECT 1) SELECT * FROM t)",
    "n IN (FROM read_csv('FILE'))",
    "n IN (TABLE x)",
    "n IN (VALUES (1))",
    "(SELECT -1) = n",
    "(SELECT(1)) = n",
    "n IN (1) UNION SELECT x FROM read_csv('FILE')",
    "CASE WHEN n IN (SELECT x FROM read_csv('FILE')) THEN TRUE END",
    "CAST((SELECT x FROM read_csv('FILE')) AS INT) = n",
    "coalesce((SELECT x FROM read_csv('FILE')), 1) = n",
    "l[(SELECT 1)] = 1",
    "n = 1) OR n IN (SELECT x FROM read_csv('FILE')",
    "n = 1; SELECT 1",
    "'a\\' = ' OR n IN (SELECT x FROM read_csv('FILE')) OR a = '",
    "E'a\\'' = ' OR n IN (SELECT x FROM read_csv(''FILE'')) OR a = '",
    "$$'$$ = ' OR n IN (SELECT x FROM read_csv(''FILE'')) OR a = '",
    "read_csv('FILE') = 1",
    "read_parquet('https://example.org/x.parquet') = 1",
    "scan_csv('FILE') = 1",
    "getenv('HOME') = 'x'",
]


@pytest.mark.parametrize("query", QUERIES)
def test_queries_and_table_functions_are_refused(tmp_path, query):
    file = tmp_path / "x.csv"
    file.write_text("x\n1\n")
    with pytest.raises(ConfigError, match=r"table\.where: .* is not a SQL condition: "):
        Where(query.replace("FILE", str(file))).preflight()


def test_validate_does_not_open_what_a_condition_names(tmp_path, capsys):
    """Polars opens the file while it parses; that it is missing would then be the error."""
    (tmp_path / "p.yaml").write_text(
        "version: 1\nstages:\n"
        f"  - table.where: {{expression: \"n IN (SELECT x FROM read_csv('{tmp_path}/no.csv'))\"}}\n"
    )
    assert main(["validate", str(tmp_path / "p.yaml")]) == 2
    said = capsys.readouterr().err
    assert "SELECT at character 7 is not allowed" in said
    assert "a condition may have columns" in said
    assert "No such file" not in said


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("text = 'select from'", ["select from"]),
        ("text = 'SELECT x FROM read_csv(''/etc/passwd'')'", ["SELECT x FROM read_csv('/etc/passwd')"]),
        ("\"select\" = 1 AND text <> ''", ["select from"]),
        ("`select` = 2", ["SELECT x FROM read_csv('/etc/passwd')"]),
        ('"from -- ""x""" = 3', ["-- no /* comment"]),
        ("text = '-- no /* comment'", ["-- no /* comment"]),
        ("text LIKE '%no /*%' /* a 'comment' */ -- and (more", ["-- no /* comment"]),
        ("s.\"union\" > 2 AND s.b = 'x'", ["-- no /* comment"]),
        ("l[1] = 2", ["SELECT x FROM read_csv('/etc/passwd')"]),
        ("DATE '2020-01-01' < day AND EXTRACT(year FROM day) = 2021", ["select from"]),
        ("text NOT LIKE 'S%' AND \"select\" NOT BETWEEN 3 AND 4", ["select from"]),
        ("\"select\"::TEXT = '1' OR TRY_CAST(text AS DOUBLE PRECISION) IS NOT NULL", ["select from"]),
        ('CASE "select" WHEN 1 THEN FALSE ELSE - "select" + 2 = 0 OR FALSE END AND NOT l IS NULL AND l[-1] = 2',
         ["SELECT x FROM read_csv('/etc/passwd')"]),
        ('"select" IS NOT DISTINCT FROM 3', ["-- no /* comment"]),
    ],
)  # fmt: skip
def test_hostile_words_are_harmless_in_quotes(expression, kept):
    import datetime as dt

    data = {
        "text": ["select from", "SELECT x FROM read_csv('/etc/passwd')", "-- no /* comment"],
        "select": [1, 2, 3],
        'from -- "x"': [1, 2, 3],
        "s": [{"union": 1, "b": "x"}, {"union": 2, "b": "x"}, {"union": 3, "b": "x"}],
        "l": [[1], [2], [3]],
        "day": [dt.date(2021, 1, 1), dt.date(2019, 1, 1), dt.date(2020, 1, 1)],
    }
    assert Where(expression).process(TableBatch(data=data)).data["text"].to_pylist() == kept


PIECES = [*"'\"`\\-/*;()[]$\0\n", "''", "--", "/*", "*/", "$$", "E'", "SELECT ", " x"]
HOSTILE = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


@given(HOSTILE)
def test_any_text_is_a_literal_and_keeps_its_row(text):
    literal = text.replace("'", "''")
    out = Where(f"text = '{literal}' -- {text.splitlines()[0] if text.splitlines() else ''}\n").process(
        TableBatch(data={"text": [text, text + "x"]})
    )
    assert out is not None
    assert out.data["text"].to_pylist() == [text]


@given(HOSTILE.filter(lambda name: name and name != "*" and not (name[0] == "^" and name[-1] == "$")))
def test_any_column_can_be_named_in_double_quotes(name):
    quoted = name.replace('"', '""')
    assert Where(f'"{quoted}" > 1').inputs() == [name]


QUERY_WORDS = ["SELECT", "select", "FROM", "WITH", "EXISTS", "UNION", "TABLE", "VALUES", "any(", "over("]
TABLES = ["read_csv('x')", "read_parquet('x')", "scan_csv('x')"]
OPERANDS = ["'a'", '"b"', "n", "l", "x", "1", "NULL", "abs(", "CAST(", "CASE", "IN(", "(", "AS", "INT", "::INT"]
OTHERS = [*"),=+-*.[]", "AND", "OR", "NOT", "IN", "IS", "WHEN", "THEN", "END", "BETWEEN", "LIKE", "--\n", "/**/"]
WORDS = st.one_of(st.sampled_from([*QUERY_WORDS, *TABLES]), st.sampled_from(OPERANDS), st.sampled_from(OTHERS))


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_no_unquoted_query_is_ever_accepted(text):
    try:
        rewritten = scalar_sql(text)
    except ScalarSqlError:
        return
    bare = rewritten.replace("'a'", "").replace("'x'", "")
    assert not {"SELECT", "FROM", "WITH", "EXISTS", "UNION"} & set(text.upper().replace("(", " ").split())
    assert "read_" not in bare
    assert "scan_" not in bare
    try:
        condition = pl.sql_expr(f"({rewritten})")
    except pl.exceptions.PolarsError:
        return
    assert kinds_of(condition) <= SCALAR_NODES


SCALAR_NODES = {"Column", "Literal", "BinaryExpr", "Function", "Cast", "Ternary", "Field", "Alias", "Slice"}
"""Nodes of an expression tree of polars that compute a row's value from the row's values."""


def kinds_of(condition):
    """The kinds of the nodes of an expression; what it holds of the user's words and options is left out."""

    def walk(node):
        if isinstance(node, list):
            for each in node:
                yield from walk(each)
        elif isinstance(node, dict):
            for kind, inner in node.items():
                if kind in {"Column", "Literal"}:
                    yield kind
                elif kind[:1].isupper():
                    yield kind
                    yield from walk([value for key, value in inner.items() if key in CHILDREN])

    return set(walk(json.loads(condition.meta.serialize(format="json"))))


CHILDREN = {
    "left",
    "right",
    "input",
    "expr",
    "predicate",
    "truthy",
    "falsy",
    "by",
    "function_inputs",
    "offset",
    "length",
}

ARGUMENTS = [
    "", "n", "a", "a, 'x'", "n, 2", "a, 1", "a, 'x', 'y'", "a, ',', 1", "l", "l, 1", "'year', d", "d, '%Y'",
    "a, '%Y'", "n > 1, 1, 2", "',', a, a", "m, ','", "a, '%H%M'", "f",
]  # fmt: skip


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_each_function_computes_a_row_from_the_row_alone(function):
    """In polars as installed: the tree has no scan or aggregate, and a row's value is the same alone."""
    frame = pl.DataFrame(
        {"a": ["2020", "2021"], "n": [1, 2], "f": [0.25, 0.5], "l": [[1], [2, 1]], "m": [["x"], ["x", "y"]]}
    ).with_columns(d=pl.date(2020, 1, pl.col("n")))
    computed = 0
    for arguments in ARGUMENTS:
        try:
            condition = parse_condition(f"{function}({arguments})")
            together = frame.select(value=condition)["value"]
        except (ConfigError, pl.exceptions.PolarsError):
            continue
        assert kinds_of(condition) <= SCALAR_NODES
        alone = [frame[row : row + 1].select(value=condition)["value"] for row in range(frame.height)]
        if condition.meta.root_names():
            assert pl.concat(alone).equals(together, null_equal=True)
        computed += 1
    assert computed, f"{function} is not a function of this polars"


@pytest.mark.parametrize("type_name", sorted(TYPES))
def test_each_type_is_known_to_polars(type_name):
    assert kinds_of(parse_condition(f"TRY_CAST(a AS {type_name}) IS NULL")) <= SCALAR_NODES


def test_accepted_conditions_open_no_file_and_ask_for_no_address(tmp_path):
    """What Python's audit hook cannot see, polars' own readers, is covered by the shape of the tree above."""
    program = """
import sys
from curator_core import TableBatch
from curator_table.stages.where import Where
Where("length(a) > 0").process(TableBatch(data={"a": ["x"]}))
seen = []
sys.addaudithook(lambda event, args: seen.append(event) if event in WATCHED else None)
WATCHED = {"open", "os.putenv", "socket.connect", "socket.getaddrinfo", "subprocess.Popen"}
where = Where("a = '/etc/passwd' OR upper(a) LIKE 'HTTP://%' OR CAST(a AS TEXT) IN ('x', 'y')")
where.process(TableBatch(data={"a": ["x"]}))
print(seen)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("n = '" + "x" * MAX_LENGTH + "'", f"at most {MAX_LENGTH:,}"),
        ("(" * 100_000 + "n", "characters"),
        ("(" * 10_000 + "n", f"more than {MAX_NESTING} deep"),
        ("NOT " * 10_000 + "TRUE", f"more than {MAX_NESTING} deep"),
        ("-" + " -" * 10_000 + "n = 1", f"more than {MAX_NESTING} deep"),
        ("abs(" * 10_000 + "n", f"more than {MAX_NESTING} deep"),
        ("CASE WHEN TRUE THEN " * 3_000, f"more than {MAX_READ_TWICE} deep"),
        ("CASE WHEN TRUE THEN TRUE ELSE " * 2_000, f"more than {MAX_NESTING} deep"),
        ("CAST(" * 10_000 + "n", f"more than {MAX_READ_TWICE} deep"),
        (" AND ".join(["a"] * 10_000), f"more than {MAX_OPERATORS} operators"),
        ("n" + "::INT" * 10_000, f"more than {MAX_OPERATORS} operators"),
        ("n" + " IS NULL" * 8_000, f"more than {MAX_OPERATORS} operators"),
        ("s" + ".a" * 20_000, f"more than {MAX_OPERATORS} operators"),
        ("CASE" + " WHEN n THEN n" * 4_000 + " END", f"more than {MAX_OPERATORS} operators"),
        ("n NOT IN (" + "1, " * 9_000 + "n)", f"9,001 items; more than {MAX_COMPUTED_ITEMS} must all be"),
    ],
    ids=range(15),
)
def test_length_and_depth_are_bounded(expression, message):
    with pytest.raises(ConfigError, match=message) as raised:
        Where(expression).preflight()
    assert len(str(raised.value)) < 1000


NESTING = [
    *((f"{function}(", ")") for function in sorted(FUNCTIONS)),
    *((f"{function}(a, ", ")") for function in sorted(FUNCTIONS)),
    ("CEIL(", ", 'b')"),
    ("CAST(", " AS INT)"),
    ("TRY_CAST(", " AS INT)"),
    ("EXTRACT(year FROM ", ")"),
    ("NOT (", ")"),
    ("a IN (", ")"),
    ("CASE WHEN ", " THEN a END"),
    ("CASE WHEN a THEN ", " END"),
    ("CASE WHEN a THEN a ELSE ", " END"),
]


@pytest.mark.parametrize("core", ["a BETWEEN 1", "CAST(a AS REAL(1))"])
def test_the_time_to_parse_does_not_double_with_each_level(core):
    """What polars cannot parse, it reads again as something else: ``cast(…)`` as a function that has this name.

    No step can be counted there, so CPU time is compared: eight levels more may take 16 times as long, not 256 times.
    """
    for begin, end in NESTING:
        texts = [begin * depth + core + end * depth for depth in (8, 16)]
        try:
            few_s, many_s = [parse_cpu_s(f"({scalar_sql(text)})") for text in texts]
        except ScalarSqlError:
            continue
        assert many_s < max(16 * few_s, 0.02), begin


def parse_cpu_s(text):
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        with pytest.raises(pl.exceptions.PolarsError):
            pl.sql_expr(text)
        best = min(best, time.process_time() - start)
    return best


def test_what_is_within_the_bounds_is_accepted():
    many = ", ".join(map(str, range(-500, 8_500)))
    assert Where(f"n IN ({many})").process(TableBatch(data={"n": [5, 9_000]})).data["n"].to_pylist() == [5]
    few = ", ".join(["n"] * MAX_COMPUTED_ITEMS)
    assert Where(f"n IN ({few})").process(TableBatch(data={"n": [5, None]})).data["n"].to_pylist() == [5]
    chain = " AND ".join(["n > 0"] * (MAX_OPERATORS // 2))
    deep = "(" * MAX_NESTING + "n = 5" + ")" * MAX_NESTING
    ladder = "CASE WHEN n = 0 THEN FALSE ELSE " * MAX_NESTING + "TRUE" + " END" * MAX_NESTING
    casts = "CAST(" * MAX_READ_TWICE + "n" + " AS INT)" * MAX_READ_TWICE + " = 5"
    for expression in (chain, deep, ladder, casts):
        assert Where(expression).process(TableBatch(data={"n": [5, 0]})).data["n"].to_pylist() == [5]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("n > 1 FROM x", "FROM at character 7 is not allowed; expected an operator or the end"),
        ("lower(text) = current_date", "CURRENT_DATE at character 15 is not allowed"),
        ("lpad(text, 1000000000) = 'x'", "lpad at character 1 is not allowed"),
        ("n = 'x", "text that begins at character 5 with ' has no end"),
        ("n = 1 /* x", "a comment that begins at character 7 "),
        ("n = 0x10", "0x at character 5 is not a number"),
        ("n = \N{ARABIC-INDIC DIGIT THREE}", "at character 5 is not allowed"),
        ("N'x' = text", "text has no prefix"),
        ("$1 = n", r"'\$' at character 1 is not allowed"),
        ("CAST(n AS STRUCT)", "STRUCT at character 11 is not allowed; expected one of the types"),
        ('"*" = 1', "takes it for a pattern"),
        ('"^.*$" = 1', "takes it for a pattern"),
        ("greatest() > 1", r"\) at character 10 is not allowed"),
        ("max(n) = 1", "more than one row"),
    ],
)
def test_a_refusal_says_what_where_and_what_is_allowed(expression, message):
    with pytest.raises(ConfigError, match=message):
        Where(expression).preflight()
