"""Prompts with places for columns: ``Summarise: {text}``."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from curator_core.sdk import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PromptTemplate"]


class PromptTemplate:
    r"""A text with column names in braces; doubled braces stand for themselves.

    Only names are allowed there: no attributes, indices or formats, so that a template cannot reach into Python.

    >>> PromptTemplate("Title: {title}\n{{json}} {text}").fill({"title": "A", "text": "{b}"})
    'Title: A\n{json} {b}'

    Args:
        template: The text.
        what: Its name in messages.

    Raises:
        ConfigError: Braces are unbalanced, or hold more than a name.
    """

    def __init__(self, template: str, *, what: str = "prompt") -> None:
        try:
            parts = list(string.Formatter().parse(template))
        except ValueError as error:
            raise ConfigError(f"{what}: {error}", fix="write {{ and }} for braces that are meant as such") from error
        self._parts = [(literal, name) for literal, name, _, _ in parts]
        for _, name, form, conversion in parts:
            if name is not None and (form or conversion or not name.isidentifier()):
                raise ConfigError(
                    f"{what}: {{{name}}} with its format is not the name of a column",
                    fix="use plain names such as {text}, and {{ }} for other braces",
                )

    @property
    def columns(self) -> list[str]:
        """The columns it names, each once."""
        return list(dict.fromkeys(name for _, name in self._parts if name is not None))

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text with every name replaced by its value; braces in values mean nothing."""
        return "".join(literal + ("" if name is None else values[name]) for literal, name in self._parts)
