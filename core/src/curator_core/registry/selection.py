"""Allow and block lists: which plugins may be imported at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.registry.plugin_info import CORE
from curator_core.values.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

__all__ = ["ALLOW_VARIABLE", "BLOCK_VARIABLE", "Selection"]

ALLOW_VARIABLE = "CURATOR_PLUGINS"
BLOCK_VARIABLE = "CURATOR_DISABLE_PLUGINS"


@dataclass(frozen=True)
class Selection:
    """Which plugins a user lets in; core is always let in.

    >>> Selection(allow=frozenset({"text"})).why_blocked("image")
    'it is not in the allow list CURATOR_PLUGINS'

    Args:
        allow: If given, only these.
        block: Never these, whatever ``allow`` says.
    """

    allow: frozenset[str] | None = None
    block: frozenset[str] = frozenset()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Selection:
        """Read both comma-separated lists; an empty allow list allows everything."""
        allow = _names(environment.get(ALLOW_VARIABLE, ""))
        return cls(allow or None, _names(environment.get(BLOCK_VARIABLE, "")))

    def why_blocked(self, name: str) -> str | None:
        """Return the cause when a plugin may not be imported, else None."""
        if name == CORE:
            return None
        if name in self.block:
            return f"it is in the block list {BLOCK_VARIABLE}"
        if self.allow is not None and name not in self.allow:
            return f"it is not in the allow list {ALLOW_VARIABLE}"
        return None

    def fix_for(self, name: str) -> str:
        """Say how to let a blocked plugin in."""
        if name in self.block:
            return f"remove {name!r} from {BLOCK_VARIABLE}"
        return f"add {name!r} to {ALLOW_VARIABLE}"

    def unmatched(self, installed: Collection[str]) -> list[str]:
        """Return a remark for every entry that matches no installed plugin: most likely a typing error."""
        remarks = []
        for variable, names in ((ALLOW_VARIABLE, self.allow or ()), (BLOCK_VARIABLE, self.block)):
            for name in sorted(set(names) - set(installed)):
                hint = "".join(f"; did you mean {each!r}?" for each in nearest(name, installed)[:1])
                remarks.append(f"{variable} names {name!r}, which is not an installed plugin{hint}")
        if CORE in self.block:
            remarks.append(f"{BLOCK_VARIABLE} names {CORE!r}, which is built in and cannot be blocked")
        return remarks


def _names(text: str) -> frozenset[str]:
    return frozenset(_stripped(text.split(",")))


def _stripped(parts: Iterable[str]) -> Iterable[str]:
    return (part.strip() for part in parts if part.strip())
