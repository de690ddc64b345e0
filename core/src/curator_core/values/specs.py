"""What a plugin declares: plain values, cheap to make, naming code without importing it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["API_VERSION", "CommandSpec", "ExecutorSpec", "StageKind", "StageSpec", "TaskTypeSpec", "WorkflowSpec"]

API_VERSION = (1, 0)
"""Version of the plugin interface: a plugin's major must equal it, its minor must not exceed it."""

StageKind = Literal["reader", "filter", "modifier", "annotator", "model", "writer", "other"]


@dataclass(frozen=True)
class StageSpec:
    """A stage that a plugin offers.

    Args:
        name: Short name in snake case; the registry prefixes the plugin's name (``text.word_count``).
        target: Where the class is, as ``"package.module:Class"``. Imported when a pipeline names the stage.
        summary: One line for listings.
        kind: What it does to the data.
        requires: Import names of packages it needs beyond its distribution's hard dependencies.
        extra: The extra that installs them (``pip install curator-text[models]``).
        produces: Columns it adds with default parameters, so that a missing column can name its producer.
        alias_of: Full name of the stage that this name stands for (``table.read_jsonl``), given instead of a target.
            Pipelines may use either; plans and ledgers hold the full name, and listings leave the alias out.
    """

    name: str
    target: str = ""
    summary: str = ""
    kind: StageKind = "other"
    requires: tuple[str, ...] = ()
    extra: str | None = None
    produces: tuple[str, ...] = ()
    alias_of: str | None = None


@dataclass(frozen=True)
class TaskTypeSpec:
    """A task type that a plugin offers (``ImageBatch``)."""

    name: str
    target: str
    summary: str = ""


@dataclass(frozen=True)
class ExecutorSpec:
    """An executor that a plugin offers, named in YAML as ``executor: {name: …}``."""

    name: str
    target: str
    summary: str = ""
    requires: tuple[str, ...] = ()
    extra: str | None = None


@dataclass(frozen=True)
class WorkflowSpec:
    """A workflow that a plugin offers."""

    name: str
    target: str
    summary: str = ""
    requires: tuple[str, ...] = ()
    extra: str | None = None


@dataclass(frozen=True)
class CommandSpec:
    """A sub-command that a plugin adds to ``curator``: a module with ``add_arguments(parser)`` and ``run(args)``."""

    name: str
    target: str
    summary: str = ""
