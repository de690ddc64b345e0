"""When a task is to blame for the workers that died with it, and when something else is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.model import Call, LossCause

__all__ = ["LONE_DEATHS", "LONE_LOSSES", "Blame"]

LONE_DEATHS = 3
"""A task that ends so many workers while alone with them is given up, where nothing else ends workers."""
LONE_LOSSES = 24
"""No task is tried more often than this, whatever speaks for it: loading it may be what ends workers."""
_MOST_DEATHS = 12
_CHANCE_OF_INJUSTICE = 1e-6


class Blame:
    """Weighs deaths of workers against a task that was alone with them.

    Something outside may end workers: an operator, a cluster manager, the memory of another program. It shows in
    workers that die in no stage, and in tasks that come through after workers have died with them. The more of that is
    seen among all tries, the more deaths it takes to blame a task.
    """

    def __init__(self) -> None:
        self._innocent_deaths = 0
        self._innocent_tries = 0

    def unprovoked(self) -> None:
        """Note a worker that died in no stage."""
        self._innocent_deaths += 1

    def came_through(self, call: Call) -> None:
        """Note a task that was suspected and is done: the workers that died with it did so for another reason."""
        self._innocent_tries += 1
        if call.cause == "died":
            self._innocent_deaths += call.deaths

    def is_guilty(self, deaths: int, losses: int, cause: LossCause) -> bool:
        """Return whether a task is given up after so many deaths and losses of workers that were alone with it.

        Args:
            deaths: Those that died in a stage, took too long or too much memory.
            losses: Those and the ones that died before or after.
            cause: The last one's.
        """
        is_its_own = cause in ("timeout", "memory")  # nobody outside makes a call long or large
        return losses >= LONE_LOSSES or deaths >= (LONE_DEATHS if is_its_own else self.deaths_needed)

    @property
    def deaths_needed(self) -> int:
        """How many workers must have died with a task, so that bad luck alone is out of the question.

        >>> blame = Blame()
        >>> blame.deaths_needed
        3
        >>> for _ in range(5):
        ...     blame.unprovoked()
        >>> blame.deaths_needed
        12
        """
        tries = self._innocent_deaths + self._innocent_tries + 1
        chance = self._innocent_deaths / tries
        if chance == 0.0:
            return LONE_DEATHS
        needed = math.ceil(math.log(_CHANCE_OF_INJUSTICE) / math.log(chance))
        return min(_MOST_DEATHS, max(LONE_DEATHS, needed))
