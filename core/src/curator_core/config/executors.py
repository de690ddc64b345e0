"""Executors from names and values, as pipeline files and the command line give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.parameters.params import construct
from curator_core.parameters.problems import render_path
from curator_core.values.errors import ConfigError
from curator_core.values.specs import ExecutorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.executors.base import Executor
    from curator_core.registry import Registry

__all__ = ["executor_class", "make_executor", "short_names"]


def make_executor(name: str, options: Mapping[str, Any], *, registry: Registry) -> Executor:
    """Make an executor by its registry name.

    >>> from curator_core.registry import Registry
    >>> make_executor("local", {"threads": 2}, registry=Registry()).threads
    2

    Raises:
        UnknownNameError: There is no such executor.
        ConfigError: Lists every option that does not fit.
    """
    executor, faults = construct(executor_class(name, registry), options)
    if faults:
        lines = (f"{render_path((f'executor {name}', *fault.path))}: {fault.what}" for fault in faults)
        raise ConfigError("\n".join(lines))
    made: Executor = executor
    return made


def executor_class(name: str, registry: Registry) -> type:
    """Import the class of an executor.

    Raises:
        UnknownNameError: There is no such executor.
    """
    cls: type = registry.find(ExecutorSpec, name).load()
    return cls


def short_names(registry: Registry) -> list[str]:
    """Return the names of all executors as files write them: those of core without ``core.``."""
    return [name.removeprefix("core.") for name in registry.executors]
