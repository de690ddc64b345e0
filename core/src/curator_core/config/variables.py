"""``${VAR}`` and ``${VAR:-default}`` in the values of a pipeline file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from curator_core.config.problems import did_you_mean
from curator_core.errors import ConfigError
from curator_core.redaction import hide, is_sensitive_name, redact_shapes

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["References", "Variables", "escape", "is_path", "is_place", "is_telling", "names_in"]

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
_SHORTEST_TELLING = 6


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
        self.references: References = {}
        self._uses: dict[str, tuple[str, set[str]]] = {}  # values of variables, and the parameters they are part of

    @property
    def unused(self) -> dict[str, str]:
        """Names that were given but never mentioned, each with a hint."""
        return {
            name: did_you_mean(name, self._mentioned - set(self._given))
            for name in sorted(self._given.keys() - self._mentioned)
        }

    def substitute(self, text: str, parameter: str = "") -> str:
        """Replace every reference in ``text``; ``$$`` stands for a dollar sign.

        Args:
            text: Text as the file has it.
            parameter: Key that it stands under.

        Raises:
            ConfigError: A variable has no value, or a reference is malformed.
        """
        used: dict[str, str] = {}
        result = _REFERENCE.sub(lambda match: self._replacement(match, used), text)
        for name, value in used.items():
            self._uses.setdefault(name, (value, set()))[1].add(parameter)
        if used and result:
            self.references[parameter, result] = text
        return result

    def hide_values(self) -> None:
        """Hide the values of variables in all that leaves this process, but for those of places, names and numbers.

        A value that is part of a place is shown with it, whichever variable the place came from.
        """
        places = [redact_shapes(text) for parameter, text in self.references if is_place(parameter)]
        places += [value for value, _ in self._uses.values() if is_path(value)]
        for name, (value, parameters) in self._uses.items():
            is_credential = is_sensitive_name(name) or any(map(is_sensitive_name, parameters))
            is_part_of_place = any(map(is_place, parameters)) or any(value in place for place in places)
            if is_credential or (is_telling(value) and not is_part_of_place):
                hide(value, is_credential=is_credential)

    def _replacement(self, match: re.Match[str], used: dict[str, str]) -> str:
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
        used[name] = value
        return value


def names_in(text: str) -> list[str]:
    """Return the variables that a text refers to.

    >>> names_in("${IN}/${NAME:-all}.jsonl costs $$5")
    ['IN', 'NAME']
    """
    return [match["name"] for match in _REFERENCE.finditer(text) if match["name"]]


def is_telling(value: str) -> bool:
    """Return whether a value is more than a word, a number or a few characters, so that it may have to be hidden.

    >>> [is_telling(value) for value in ("body", "2024-05-01", "exp-1", "exp-2024-b")]
    [False, False, False, True]
    """
    return len(value) >= _SHORTEST_TELLING and not _ORDINARY.fullmatch(value)


def is_place(parameter: str) -> bool:
    """Return whether a parameter holds a path, an address or a name, by its own name.

    >>> [is_place(name) for name in ("path", "input_files", "url", "header", "text_field")]
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
