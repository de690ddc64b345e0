import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from curator_core.config.document import parse_document
from curator_core.config.variables import Variables
from curator_core.parameters.references import escape
from curator_core.plan.yaml_dialect import PlainDumper, scalar_value
from curator_core.values.errors import ConfigError


def parse(text, variables=None, environment=None):
    document = parse_document(text, source="p.yaml", variables=Variables(variables, environment))
    document.raise_problems()
    return document


def refuse(text, variables=None):
    with pytest.raises(ConfigError) as caught:
        parse(text, variables)
    return str(caught.value)


def test_plain_values_of_yaml_1_2():
    data = parse("[no, yes, on, 2024-01-01, 1e-3, 0x1f, 0o17, 1_000, true, False, ~, .inf, -.inf, '5', 1:30]").data
    assert data == [
        "no", "yes", "on", "2024-01-01", 0.001, 31, 15, "1_000", True, False, None, math.inf, -math.inf, "5", "1:30",
    ]  # fmt: skip
    assert math.isnan(parse(".nan\n").data)


def test_every_value_knows_its_line():
    document = parse("a: 1\nb:\n  - x\n  - c: 2\n    d: [3, 4]\n")
    assert document.line(("b",)) == 2
    assert document.line(("b", 1, "c")) == 4
    assert document.line(("b", 1, "d", 1)) == 5
    assert document.line(("b", 1, "d", "not", "there")) == 5


def test_duplicate_keys_are_reported_with_both_lines():
    assert "p.yaml:3: b.x: key 'x' is given twice (first on line 2)" in refuse("b:\n  x: 1\n  x: 2\n")


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [ls]", "!custom x", "!!binary aGk=", "!!set {a}"])
def test_tags_are_refused(tag):
    assert "p.yaml:2: a[0]: the tag" in refuse(f"a:\n- {tag}\n")


def test_alias_bombs_and_alias_cycles_are_refused():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    assert "more than 100000 values" in refuse(bomb)
    assert "more than 100 levels" in refuse("a: &a [*a]\n")


def test_aliases_within_reason_are_expanded():
    assert parse("a: &x {k: 1}\nb: *x\n").data == {"a": {"k": 1}, "b": {"k": 1}}


def test_very_deep_nesting_is_an_error_not_a_crash():
    assert "nested too deeply" in refuse("[" * 5000 + "]" * 5000)


@pytest.mark.parametrize("text", ["a: [1", "a: 'x", "\t- a", "a: b: c", "- a\nb: c", "a: \x00", "--- a\n--- b\n"])
def test_syntax_errors_name_the_file(text):
    assert refuse(text).startswith("p.yaml:")


def test_variables_come_from_the_caller_then_the_environment_then_the_default():
    text = '["${A}", "${B}", "${C:-see}", "$$A ${A}${B}", \'cost: $5\', "${E:-none}"]'
    data = parse(text, {"A": "1"}, {"A": "2", "B": "3", "E": ""}).data
    assert data == ["1", "3", "see", "$A 13", "cost: $5", "none"]


def test_unquoted_variables_are_read_as_if_typed_there():
    data = parse("a: ${N}\nb: '${N}'\nc: ${YES}\nd: ${N}${N}\ne: ${EMPTY}\n", {"N": 5, "YES": "true", "EMPTY": ""}).data
    assert data == {"a": 5, "b": "5", "c": True, "d": 55, "e": None}


def test_a_value_cannot_smuggle_structure_in():
    assert parse("a: ${X}\n", {"X": "{b: !!python/none x}\nc: 1"}).data == {"a": "{b: !!python/none x}\nc: 1"}


def test_missing_variables_are_all_reported_with_their_lines():
    error = refuse("a: ${ONE}\nb:\n  - ${TWO}\n", {"ONEE": "x"})
    assert "p.yaml:1: a: variable 'ONE' has no value, did you mean 'ONEE'?" in error
    assert "p.yaml:3: b[0]: variable 'TWO' has no value; give one with --set TWO=…" in error


def test_malformed_references_are_errors():
    assert "a reference such as ${NAME}" in refuse("a: '${1x}'\n")
    assert refuse("a: '${open'\n").startswith("p.yaml:1: a: ")


def test_keys_are_not_substituted():
    assert parse("${A}: 1\n", {}).data == {"${A}": 1}


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(plain)
def test_what_the_dumper_writes_reads_back(value):
    text = yaml.dump({"v": value}, Dumper=PlainDumper, allow_unicode=True, width=1_000_000)
    escaped = parse_document(text.replace("$", "$$"), source="p", variables=Variables())
    # Keys are not subject to substitution, so only values are escaped by real code; undo it in keys here.
    assert _unescape_keys(escaped.data["v"]) == value


def _unescape_keys(value):
    if isinstance(value, dict):
        return {str(key).replace("$$", "$"): _unescape_keys(each) for key, each in value.items()}
    return [_unescape_keys(each) for each in value] if isinstance(value, list) else value


@given(st.text())
def test_escaped_text_survives_substitution(text):
    assert Variables().substitute(escape(text)) == text


@given(st.text(alphabet="0123456789+-.eExoaf_nNulLtrTRUEFAS~iI"))
def test_both_yaml_versions_agree_on_what_the_dumper_leaves_unquoted(text):
    written = yaml.dump(text, Dumper=PlainDumper, allow_unicode=True)
    assert yaml.safe_load(written) == text
    assert scalar_value("plain") == "plain"
