"""How much of a Python file is comments and docstrings, by Python's own tokenizer and parser."""

from __future__ import annotations

import ast
import io
import threading
import tokenize
import warnings

__all__ = ["comment_share", "comments_of", "docstrings_of"]

_UNPARSEABLE = (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError)
"""What the tokenizer and parser raise on text that is no Python, has NUL characters or is nested too deeply."""

# The parser warns of dubious escapes. Where warnings are errors it would refuse the file, and the filters of warnings
# belong to the whole process.
_warnings = threading.Lock()


def comment_share(source: str) -> float:
    """Return the share of a file's characters in comments and docstrings; zero for a file that is no Python.

    Comments count with their hash signs and without the newlines between them; docstrings of modules, classes and
    functions (but not of asynchronous ones) count without quotation marks and common indentation, with one character
    between two.

    >>> comment_share("x = 1  # one" + chr(10) + "y=2")
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
    """Return the comments of a Python file, with their hash signs.

    >>> comments_of("#!/bin/python" + chr(10) + "x = '# no'  # yes")
    ['#!/bin/python', '# yes']
    """
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def docstrings_of(source: str) -> list[str]:
    """Return the docstrings of a Python file: those of modules, classes and functions that are not asynchronous.

    >>> docstrings_of("'''A module.'''")
    ['A module.']
    """
    with _warnings, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
    owners = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    return [docstring for node in owners if (docstring := ast.get_docstring(node))]
