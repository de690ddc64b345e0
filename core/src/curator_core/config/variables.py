"""``${VAR}`` and ``${VAR:-default}`` in the values of a pipeline file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.parameters.problems import did_you_mean
from curator_core.parameters.references import is_path, is_place, is_telling, replace_references
from curator_core.values.errors import ConfigError
from curator_core.values.redaction import hide, is_sensitive_name, redact_shapes

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping

    from curator_core.parameters.references import References

__all__ = ["Variables"]


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
        result = replace_references(text, lambda match: self._replacement(match, used))
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
