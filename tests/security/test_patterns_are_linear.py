"""No regular expression of the text plugin or of core backtracks without bound.

Not covered: patterns that polars runs, which are linear by construction (Rust's regex crate), patterns that users give
in a pipeline file, and those inside of other packages (``html.parser``, ``ftfy``).
"""

import ast
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import curator_core
import curator_table
import curator_text
from tests.support.regex_shapes import superlinear

BAD = {
    r"eyJ[A-Za-z0-9_-]{8,}\.": "every start",
    r"\b(?:eyJ[A-Za-z0-9_-]{8,}\.)": "every start",  # a dash is inside the run, and a boundary
    r"[A-Za-z0-9_-]{13,}(?=\.)": "every start",
    r"\s+$": "every start",
    r"<a[^>]*>": "every start",
    r"x(?=[^>]*>)": "every start",
    r"<meta\s*=\s*[\"']?\s*(\w)": "two repeats",
    r"\Aa*b?a*c": "two repeats",
    r"^.*[-_]\w*-$": "two repeats",
    r"(?:a+)+b": "exponential",
    r"(?:xa|[xy]a)*b": "exponential",
    r"x(?:[^>]*>)?": "every start",
    r"(?:\s*\n)+x": "exponential",
    r"(?:a?a?){1,40}b": "exponential",
    r"(?i)(?:xa|[XY]a)+b": "exponential",
    r"-BEGIN(?:.|\n){0,20000}END": "every start",
}
GOOD = [
    r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{13,}(?=\.)",
    r"(?<=://)[^\s/?#]*@",
    r"\n(?:[ \t]*\n)+",
    r"\A\s*=\s*(?:[\"']\s*)?(\w)",
    r"[A-Za-z]+",
    r"'[^'\n]+'",
    r"^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+x",
    r"(?:[ -]?[0-9]){11,30}",
    r"[^>]{0,200}?x",
    r"\bfoo\w*\.",
    r"(?m)^a[^\n]*b",
    rb"\r?\n[ \t]+",
]


@pytest.mark.parametrize(("pattern", "why"), BAD.items())
def test_known_bad_shapes_are_found(pattern, why):
    assert why in (superlinear(re.compile(pattern)) or "")


@pytest.mark.parametrize("pattern", GOOD)
def test_known_good_shapes_pass(pattern):
    assert superlinear(re.compile(pattern)) is None


# Patterns that are safe for a reason which their shape does not show.
ONCE = "only used with fullmatch, which starts once"
SAFE = {
    "curator_text.privacy.api_keys._WEB_TOKEN": "matched once at a place where _WEB_TOKEN_HEAD has found the dots",
    "curator_text.privacy.api_keys._PRIVATE_KEY": "what it reads ends where it could start again, at -----BEGIN",
    "curator_text.privacy.contact_data._DOMAIN": "matched once behind each @, and reads no further than the next @",
    "curator_table.hf.layout._SHARD": "matched once with the name of a file",
    "curator_text.code.python_comments._LITERAL_OR_COMMENT": "only used on text that parses: all literals end",
    "curator_core.authoring.file_keys._URL": "matched once with the name of a file",
    "curator_core.parameters.signature._ENTRY": "matched once with a line of a docstring, of trusted code",
    "curator_core.parameters.references._REFERENCE": "the first reference without an end is an error, where all stops",
    "curator_core.files.locations._HOST": ONCE,
    "curator_core.files.locations._BUCKET": ONCE,
    "curator_core.values.secret_shapes._WEB_TOKEN": "reads on from an eyJ only where a dot follows the run",
    "curator_core.registry.declarations._OBJECT_TARGET": ONCE,
    "curator_table.stages.scalar_sql._TOKEN": "a comment or text without an end is an error, at which all stops",
}


def patterns_in(value, name):
    """Yield patterns in a value, and in the tuples, lists, sets and dictionaries in it."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from patterns_in(each, f"{name}.{key}")
    elif isinstance(value, (tuple, list, set, frozenset)):
        for at, each in enumerate(value):
            yield from patterns_in(each, f"{name}.{at}")
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for each in value.__dataclass_fields__:
            yield from patterns_in(getattr(value, each), f"{name}.{each}")


def written_in(module):
    """Yield patterns that are written where they are used, without their flags: ``re.sub(r"...", ...)``."""
    functions = {"findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
    for statement in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        is_code = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = ast.unparse(node.func).removeprefix("re.")
                is_ours = ast.unparse(node.func).startswith("re.") and called in functions | (
                    {"compile"} if is_code else set()
                )
                if is_ours:
                    yield f"{module.__name__} {node.args[0].value}", re.compile(node.args[0].value)


def all_patterns():
    found = {}
    for package in (curator_text, curator_table, curator_core):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name.rpartition(".")[2] == "__main__":
                continue
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if not name.startswith("__"):
                    for label, pattern in patterns_in(value, f"{info.name}.{name}"):
                        found.setdefault(pattern, label)
            for label, pattern in written_in(module):
                found.setdefault(pattern, label)
    return {label: pattern for pattern, label in found.items()}


def test_no_pattern_backtracks_without_bound():
    patterns = all_patterns()
    assert "curator_text.privacy.account_numbers._IBAN" in patterns
    assert "curator_core.values.secret_shapes._PATTERNS.0.0" in patterns
    wrong = {name: (superlinear(each) or superlinear(each, whole=True)) for name, each in patterns.items()}
    wrong = {name: why for name, why in wrong.items() if why}
    assert {name: why for name, why in wrong.items() if name not in SAFE} == {}
    assert SAFE.keys() <= wrong.keys(), "remove what is no longer needed"
