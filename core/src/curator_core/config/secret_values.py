"""Leave secrets out of a pipeline that is written down: as the variables they came from, else as asterisks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.config.variables import escape, names_in
from curator_core.redaction import MASK, is_sensitive_name, redact

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["without_secrets"]


def without_secrets(value: Any, references: Mapping[str, str], *, name: object = "") -> Any:
    """Return the values of a pipeline file (with dollar signs escaped) without the secrets in them.

    A value that came from a variable is written as the file had it, ``${NAME}``, so that the result can be run wherever
    the variable is set. Values that are no secrets stay as they are.

    >>> without_secrets({"api_key": "3f2a", "path": "out"}, {"3f2a": "${API_KEY}"})
    {'api_key': '${API_KEY}', 'path': 'out'}

    Args:
        value: The values.
        references: Texts that came from variables, and how they were written.
        name: Key that the value stands under.
    """
    if isinstance(value, dict):
        return {key: without_secrets(each, references, name=key) for key, each in value.items()}
    if isinstance(value, list):
        return [without_secrets(each, references, name=name) for each in value]
    return _without_secret(value, references, name) if isinstance(value, str) else value


def _without_secret(text: str, references: Mapping[str, str], name: object) -> str:
    plain = text.replace("$$", "$")
    hidden = MASK if plain and is_sensitive_name(name) else redact(plain)
    written = references.get(plain)
    if written is None:
        return text if hidden == plain else escape(hidden)
    is_secret = hidden != plain or any(is_sensitive_name(each) for each in names_in(written))
    return written if is_secret else text
