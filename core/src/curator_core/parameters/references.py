"""References to variables as text has them, and what of their values, and of secrets, may be shown or written."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from curator_core.values.redaction import (
    MASK,
    is_sensitive_name,
    redact,
    redact_credentials,
    redact_shapes,
    redact_values,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "References",
    "escape",
    "identity_of_values",
    "is_path",
    "is_place",
    "is_telling",
    "names_in",
    "replace_references",
    "without_secrets",
]

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


def without_secrets(value: Any, references: References, *, mask: bool = True, name: str = "") -> Any:
    """Return the values of a pipeline file (with dollar signs escaped) without the secrets in them.

    A value that came from a variable is written as the file had it, ``${NAME}``, so that the result can be run wherever
    the variable is set; paths, names and numbers are written out, unless they hold a secret.

    >>> without_secrets({"greeting": "3f2a", "path": "out"}, {("greeting", "3f2a"): "${GREETING}"})
    {'greeting': '${GREETING}', 'path': 'out'}

    Args:
        value: The values.
        references: How values that came from variables were written.
        mask: Write secrets that came from elsewhere as asterisks.
        name: Key that the value stands under.
    """
    if isinstance(value, dict):
        return {key: without_secrets(each, references, mask=mask, name=str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [without_secrets(each, references, mask=mask, name=name) for each in value]
    if not isinstance(value, str):
        return value
    plain = value.replace("$$", "$")
    written = references.get((name, plain))
    if written is not None and _is_hidden(plain, written, name):
        return written
    hidden = MASK if plain and is_sensitive_name(name) else redact(plain)
    return value if hidden == plain or not mask else escape(hidden)


def identity_of_values(value: Any, references: References, *, name: str = "") -> Any:
    """Return values such that those of two runs can be compared, and secrets cannot be read.

    Credentials are left out: they change without changing what a run makes. Of other values that came from variables
    of this pipeline there is a digest, and of values that look like a secret outside of an address, which may be
    conditions or patterns. It takes long to compute (about 50 ms), so that trying many values takes longer, but a value
    that is one of few can be found.

    >>> identity_of_values({"greeting": "good day", "n": 1}, {("greeting", "good day"): "${GREETING}"})
    {'greeting': '*** d31169a2f6961f6a', 'n': 1}
    """
    if isinstance(value, dict):
        return {key: identity_of_values(each, references, name=str(key)) for key, each in value.items()}
    if isinstance(value, list):
        return [identity_of_values(each, references, name=name) for each in value]
    if not isinstance(value, str) or is_sensitive_name(name):
        return redact_values({name: value})[name]
    known = redact_credentials(value, by_shape=False)
    if known == MASK:
        return MASK
    compared = _without_secrets_in_addresses(known)
    shown = redact_shapes(compared)
    if not (is_place(name) or is_path(value)) and _came_from_variables(name, value, references):
        shown = MASK
    return compared if shown == compared else f"{shown} {_digest(name, compared)}"


def _without_secrets_in_addresses(text: str) -> str:
    return " ".join(redact_shapes(word) if "://" in word else word for word in text.split(" "))


def _came_from_variables(name: str, value: str, references: References) -> bool:
    """Return whether a value, or a part of it, came from variables; parts of a stage may get it under another name."""
    return (name, value) in references or any(
        text in value and is_telling(text) and not (is_place(parameter) or is_path(text))
        for parameter, text in references
    )


def _is_hidden(value: str, written: str, name: str) -> bool:
    """Return whether a value that came from variables is written as these."""
    names = (name, *names_in(written))
    return not (is_place(name) or is_path(value)) or redact(value) != value or any(map(is_sensitive_name, names))


def _digest(name: str, value: str) -> str:
    secret = value.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=f"curator {name}".encode(), n=1 << 14, r=8, p=1, dklen=8).hex()
