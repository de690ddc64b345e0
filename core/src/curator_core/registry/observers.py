"""Tell plugins what happens in a run; an observer that fails is reported once and never disturbs the run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from curator_core.registry.declarations import DECLARATIONS
from curator_core.registry.loading import HOOKS, one_line
from curator_core.values.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.registry.plugin_info import PluginInfo

__all__ = ["OBSERVER_HOOKS", "Observers"]

logger = logging.getLogger(__name__)

OBSERVER_HOOKS = tuple(hook for hook in HOOKS if hook not in {each.hook for each in DECLARATIONS})
"""The hooks that observe, as against those that declare."""


class Observers:
    """The observer hooks of all working plugins."""

    def __init__(self, plugins: Sequence[PluginInfo]) -> None:
        self._plugins = [each for each in plugins if each.is_ok]
        self._reported: set[tuple[str, str]] = set()

    def notify(self, hook: str, **arguments: Any) -> None:
        """Call one observer hook of every plugin that implements it.

        Raises:
            UnknownNameError: There is no such hook.
        """
        if hook not in OBSERVER_HOOKS:
            raise UnknownNameError("observer hook", hook, OBSERVER_HOOKS)
        for plugin in self._plugins:
            try:
                getattr(plugin.manager.hook, hook)(**arguments)  # type: ignore[union-attr]
            # Isolation: an observer must not end the run that it observes.
            except (Exception, SystemExit) as error:  # noqa: BLE001, PERF203
                self._report(plugin.name, hook, error)

    def _report(self, plugin: str, hook: str, error: BaseException) -> None:
        if (plugin, hook) in self._reported:
            return
        self._reported.add((plugin, hook))
        logger.warning(
            "plugin %r: %s raised %s; the run continues, and this is not reported again", plugin, hook, one_line(error)
        )
        logger.debug("traceback of %s in plugin %r", hook, plugin, exc_info=error)
