"""References to variables as text has them, and which of their values may be shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["References", "escape", "is_path", "is_place", "is_telling", "names_in", "replace_references"]

References = dict[tuple[str, str], str]
"""How values that came from variables were written, by parameter and value: ``{("token", "3f2a"): "${TOKEN}"}``."""

_REFERENCE = re.compile(
    r"\$(?:(?P<escaped>\$)|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|(?P<broken>\{))"
)

# Parameters that say where something is, or what it is called: shown, unless what they say looks like a secret.
_PLACE = re.compile(
    r"(?:^|_)(?:address|dirs?|director(?:y|ies)|files?|filenames?|folders?|globs?|inputs?|models?|names?|outputs?|paths?"
    r"|roots?|uris?|urls?)$",
    re.IGNORECASE,
)
# Names of columns, languages and options, numbers and dates: hidden in text, they would make messages unreadable.
_ORDINARY = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*|[\d\s.,:/+-]*")
_PATH = re.compile(r"(?:~|\.{1,2})?/[^/\s].*|[A-Za-z]:\\.*")
"""A path by its beginning, whatever the parameter is called."""
_MIN_TELLING_CHARS = 6


def names_in(text: str) -> list[str]:
    """Return the variables that a text refers to.

    >>> names_in("${IN}/${NAME:-all}.jsonl costs $$5")
    ['IN', 'NAME']
    """
    return [match["name"] for match in _REFERENCE.finditer(text) if match["name"]]


def replace_references(text: str, replacement: Callable[[re.Match[str]], str]) -> str:
    """Replace each reference and each ``$$``; a match has the groups ``escaped``, ``name``, ``default`` and ``broken``.

    >>> replace_references("${IN}/a", lambda match: match["name"].lower())
    'in/a'
    """
    return _REFERENCE.sub(replacement, text)


def is_telling(value: str) -> bool:
    """Return whether a value is more than a word, a number or a few characters, so that it may have to be hidden.

    >>> [is_telling(value) for value in ("body", "2024-05-01", "exp-1", "exp-2024-b")]
    [False, False, False, True]
    """
    return len(value) >= _MIN_TELLING_CHARS and not _ORDINARY.fullmatch(value)


def is_place(parameter: str) -> bool:
    """Return whether a parameter holds a path, an address or a name, by its own name.

    >>> [is_place(name) for name in ("path", "input_files", "url", "header", "text_column")]
    [True, True, True, False, False]
    """
    return _PLACE.search(parameter) is not None


def is_path(value: str) -> bool:
    """Return whether a value is a path that begins as one, so that it needs no telling name.

    >>> [is_path(value) for value in ("/data/in", "./in", "~/in", "abc/def+gh==", "in")]
    [True, True, True, False, False]
    """
    return _PATH.fullmatch(value) is not None


def escape(text: str) -> str:
    """Return text that substitution turns back into ``text``.

    >>> escape("${HOME} costs $5")
    '$${HOME} costs $$5'
    """
    return text.replace("$", "$$")
