"""``${VAR}`` and ``${VAR:-default}`` in the values of a pipeline file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from curator_core.config.problems import did_you_mean
from curator_core.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Variables", "escape", "names_in"]

_REFERENCE = re.compile(
    r"\$(?:(?P<escaped>\$)|\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}|(?P<broken>\{))"
)


class Variables:
    """Values for variables: those given by the user win over the environment.

    >>> Variables({"IN": "data"}).substitute("${IN}/*.jsonl, ${OUT:-out}, $$5")
    'data/*.jsonl, out, $5'

    Args:
        given: Values from ``--set`` or from the caller.
        environment: Where other names are looked up.
    """

    def __init__(self, given: Mapping[str, object] | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._given = {name: str(value) for name, value in (given or {}).items()}
        self._environment = environment or {}
        self._mentioned: set[str] = set()
        self.references: dict[str, str] = {}  # what was substituted, and how it was written

    @property
    def unused(self) -> dict[str, str]:
        """Names that were given but never mentioned, each with a hint."""
        return {
            name: did_you_mean(name, self._mentioned - set(self._given))
            for name in sorted(self._given.keys() - self._mentioned)
        }

    def substitute(self, text: str) -> str:
        """Replace every reference in ``text``; ``$$`` stands for a dollar sign.

        Raises:
            ConfigError: A variable has no value, or a reference is malformed.
        """
        result = _REFERENCE.sub(self._replacement, text)
        self.references[result] = text
        return result

    def _replacement(self, match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        if match["broken"]:
            raise ConfigError(
                "'${' does not begin a reference such as ${NAME} or ${NAME:-default}; write $$ for a dollar"
            )
        name, default = match["name"], match["default"]
        self._mentioned.add(name)
        value = self._given.get(name, self._environment.get(name))
        if default is not None and not value:  # as in a shell, ":-" also replaces an empty value
            return str(default)
        if value is None:
            hint = did_you_mean(name, self._given)
            raise ConfigError(
                f"variable {name!r} has no value{hint or ';'} give one with --set {name}=…, "
                f"in the environment, or write ${{{name}:-default}}"
            )
        return value


def names_in(text: str) -> list[str]:
    """Return the variables that a text refers to.

    >>> names_in("${IN}/${NAME:-all}.jsonl costs $$5")
    ['IN', 'NAME']
    """
    return [match["name"] for match in _REFERENCE.finditer(text) if match["name"]]


def escape(text: str) -> str:
    """Return text that substitution turns back into ``text``.

    >>> escape("${HOME} costs $5")
    '$${HOME} costs $$5'
    """
    return text.replace("$", "$$")
