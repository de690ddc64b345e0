"""Find the installed plugins by their entry points, and which may be imported; nothing is imported here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import importlib_metadata

import curator_core
from curator_core.registry.plugin_info import CORE, Candidate, normalise_distribution
from curator_core.values.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from importlib_metadata import IDistribution

__all__ = ["Selection", "core_candidate", "discover", "settle_collisions"]

ALLOW_VARIABLE = "CURATOR_PLUGINS"
BLOCK_VARIABLE = "CURATOR_DISABLE_PLUGINS"

GROUP = "curator.plugins"
"""The entry-point group: entry name = plugin name, value = its light plugin module."""


def core_candidate() -> Candidate:
    """Return core itself, which is built in: it is there even when core runs from a source folder."""
    return Candidate(CORE, "curator_core.plugin", "curator-core", curator_core.__version__)


def discover() -> list[Candidate]:
    """Return a candidate for every installed entry point of the group: core first, the others by name."""
    found = []
    seen: set[str] = set()
    for distribution in importlib_metadata.distributions():
        candidates = _candidates_of(distribution)
        if not candidates:
            continue
        key = normalise_distribution(candidates[0].distribution or "")
        # A distribution can be on the path twice; as with modules, the first one counts.
        if key not in seen:
            seen.add(key)
            found += candidates
    # Core may be installed with an entry point of its own; it is built in already.
    others = [each for each in found if not (each.name == CORE and each.is_official)]
    return [core_candidate(), *sorted(others, key=lambda each: (each.name, each.distribution or ""))]


def settle_collisions(candidates: Sequence[Candidate]) -> dict[Candidate, str]:
    """Return the candidates that lose their name to another, with the cause.

    ``curator-<name>`` owns the plugin name ``<name>``. Where none of the claimants is that distribution, or more than
    one entry of it is, nobody gets the name: which one a user means cannot be guessed.
    """
    losers: dict[Candidate, str] = {}
    by_name: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_name.setdefault(candidate.name, []).append(candidate)
    for name, claimants in by_name.items():
        if len(claimants) == 1:
            continue
        official = [each for each in claimants if each.is_official]
        for candidate in claimants:
            if len(official) != 1:
                others = ", ".join(each.provider for each in claimants if each is not candidate)
                losers[candidate] = f"{others} also claims the plugin name {name!r}, so neither gets it"
            elif candidate is not official[0]:
                losers[candidate] = f"the plugin name {name!r} belongs to {official[0].provider}"
    return losers


def _candidates_of(distribution: IDistribution) -> list[Candidate]:
    try:
        text = distribution.read_text("entry_points.txt")
        # Most distributions are none of our business: parse their files only when they mention the group.
        if text is None or GROUP not in text:
            return []
        entries = distribution.entry_points.select(group=GROUP)
        return [Candidate(each.name, each.value, distribution.name, distribution.version) for each in entries]
    except Exception as error:  # noqa: BLE001 - one damaged installation must not hide the healthy plugins
        return [_damaged(distribution, error)]


def _damaged(distribution: IDistribution, error: Exception) -> Candidate:
    try:
        name = distribution.name or "unknown"
    except Exception:  # noqa: BLE001 - its metadata are what is damaged
        name = "unknown"
    plugin = normalise_distribution(name).removeprefix("curator-").replace("-", "_")
    return Candidate(plugin, "", name, None, error)


@dataclass(frozen=True)
class Selection:
    """Which plugins a user lets in; core is always let in.

    Args:
        allow: If given, only these.
        block: Never these, whatever ``allow`` says.
    """

    allow: frozenset[str] | None = None
    block: frozenset[str] = frozenset()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Selection:
        """Read both comma-separated lists; an empty allow list allows everything."""
        allow, block = (
            frozenset(part.strip() for part in environment.get(variable, "").split(",") if part.strip())
            for variable in (ALLOW_VARIABLE, BLOCK_VARIABLE)
        )
        return cls(allow or None, block)

    def refusal_of(self, name: str) -> tuple[str, str] | None:
        """Return why a plugin may not be imported and how to let it in; None if it may.

        >>> Selection(allow=frozenset({"text"})).refusal_of("image")
        ('it is not in the allow list CURATOR_PLUGINS', "add 'image' to CURATOR_PLUGINS")
        """
        if name == CORE:
            return None
        if name in self.block:
            return f"it is in the block list {BLOCK_VARIABLE}", f"remove {name!r} from {BLOCK_VARIABLE}"
        if self.allow is not None and name not in self.allow:
            return f"it is not in the allow list {ALLOW_VARIABLE}", f"add {name!r} to {ALLOW_VARIABLE}"
        return None

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
