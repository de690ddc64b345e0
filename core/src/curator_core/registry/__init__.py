"""Find plugins, keep the broken ones from hurting the others, and turn names into stages.

Listing imports the light plugin modules only. What a spec names is imported when a pipeline asks for it.
"""

from __future__ import annotations

from curator_core.registry.catalogue import Registry, default_registry, make_stage
from curator_core.registry.plugin_info import Candidate, PluginInfo
from curator_core.registry.registered import Registered, RegisteredStage

__all__ = [
    "Candidate",
    "PluginInfo",
    "Registered",
    "RegisteredStage",
    "Registry",
    "default_registry",
    "make_stage",
]
