"""When a task is to blame for the workers that died with it, and when something else is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.tuning import Tuning

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.model import Call, LossCause

__all__ = ["Blame"]


class Blame:
    """Weighs deaths of workers against a task that was alone with them.

    Something outside may end workers: an operator, a cluster manager, the memory of another program. It shows in
    workers that die in no stage, and in tasks that come through after workers have died with them. The more of that is
    seen among all tries, the more deaths it takes to blame a task.

    Args:
        tuning: How many deaths it takes.
    """

    def __init__(self, tuning: Tuning = Tuning()) -> None:
        self._tuning = tuning
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
        needed = self._tuning.blamed_deaths if is_its_own else self.deaths_needed
        return losses >= self._tuning.max_lone_losses or deaths >= needed

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
            return self._tuning.blamed_deaths
        needed = math.ceil(math.log(self._tuning.max_injustice) / math.log(chance))
        return min(self._tuning.max_blamed_deaths, max(self._tuning.blamed_deaths, needed))
