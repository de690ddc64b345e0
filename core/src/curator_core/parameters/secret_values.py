"""Leave secrets out of a pipeline that is written down: as the variables they came from, else as asterisks."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from curator_core.parameters.references import escape, is_path, is_place, is_telling, names_in
from curator_core.values.redaction import (
    MASK,
    is_sensitive_name,
    redact,
    redact_credentials,
    redact_shapes,
    redact_values,
)

if TYPE_CHECKING:
    from curator_core.parameters.references import References

__all__ = ["identity_of_values", "without_secrets"]


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
