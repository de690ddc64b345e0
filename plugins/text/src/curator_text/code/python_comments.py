"""How much of a Python file is comments and docstrings, by Python's own tokenizer and parser.

The tokenizer of the standard library is slow up to Python 3.11, and needed only to reject invalid Python. Where the
parser has accepted a file, a regular expression finds its comments between the string literals; the rare
files in which parser and tokenizer see different lines are left to the tokenizer.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import threading
import tokenize
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["comment_fraction", "comments_of", "docstrings_of"]

_UNPARSEABLE = (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError)
"""Errors of the tokenizer and parser on invalid Python, NUL characters or too deep nesting."""

_LITERAL_OR_COMMENT = re.compile(
    r"""
      \#[^\n]*
    | '''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''
    | \"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"""
    | '[^'\\\n]*(?:\\.[^'\\\n]*)*'
    | "[^"\\\n]*(?:\\.[^"\\\n]*)*"
    """,
    re.DOTALL | re.VERBOSE,
)
_LONE_BACKSLASH = re.compile(r"\n[ \t]*\\\n")
_NESTED_QUOTES = re.compile(r"""\b(?:[ft]r?|r[ft])["']""", re.IGNORECASE)
"""The beginning of a literal that can hold quotation marks and comments of its own, from Python 3.12 on."""
_BLOCKS = {
    **dict.fromkeys(
        (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.With, ast.AsyncWith, ast.ExceptHandler),
        ("body",),
    ),
    **dict.fromkeys((ast.If, ast.For, ast.AsyncFor, ast.While), ("body", "orelse")),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.Match: ("cases",),
    ast.match_case: ("body",),
}
"""Where the statements inside a statement are."""
if sys.version_info >= (3, 11):
    _BLOCKS[ast.TryStar] = _BLOCKS[ast.Try]

# The parser warns of dubious escapes. Where warnings are errors it would refuse the file, and the filters of warnings
# belong to the whole process.
_warnings = threading.Lock()


def comment_fraction(source: str) -> float:
    """Return the fraction of a file's characters in comments and docstrings; zero for a file that is not valid Python.

    Comments count with their hash signs and without the newlines between them; docstrings of modules, classes and
    functions (but not of asynchronous ones) count without quotation marks and common indentation, with one character
    between two.

    >>> comment_fraction("x = 1  # one" + chr(10) + "y=2")
    0.3125
    """
    if not source:
        return 0.0
    try:
        docstrings = docstrings_of(source)
        comments = comments_of(source)
    except _UNPARSEABLE:
        return 0.0
    separators = max(len(docstrings) - 1, 0)
    return (sum(map(len, comments)) + sum(map(len, docstrings)) + separators) / len(source)


def comments_of(source: str) -> list[str]:
    """Return the comments of a Python file that the parser accepts, with their hash signs.

    >>> comments_of("#!/bin/python" + chr(10) + "x = '# no'  # yes")
    ['#!/bin/python', '# yes']
    """
    lines = source.replace("\r\n", "\n")
    if _has_odd_lines(lines) or (sys.version_info >= (3, 12) and _NESTED_QUOTES.search(lines)):
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        return [token.string for token in tokens if token.type == tokenize.COMMENT]
    return [found for found in _LITERAL_OR_COMMENT.findall(lines) if found[0] == "#"]


def _has_odd_lines(source: str) -> bool:
    """Return whether parser and tokenizer may disagree about lines.

    The reasons are line ends of an old kind, form feeds, byte order marks, lines that hold nothing but a backslash, and
    a backslash at the end.
    """
    if any(mark in source for mark in "\r\f\ufeff"):
        return True
    return "\\\n" in source and (
        _LONE_BACKSLASH.search(f"\n{source}") is not None or source.rstrip("\n").endswith("\\")
    )


def docstrings_of(source: str) -> list[str]:
    """Return the docstrings of a Python file: those of modules, classes and functions that are not asynchronous.

    >>> docstrings_of("'''A module.'''")
    ['A module.']
    """
    with _warnings, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    return [docstring for node in _owners(tree) if (docstring := ast.get_docstring(node))]


def _owners(tree: ast.Module) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    """Yield the nodes that can have a docstring, in any order; expressions, most of a tree, have none."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield node
        for block in _BLOCKS.get(type(node), ()):
            waiting += getattr(node, block)
