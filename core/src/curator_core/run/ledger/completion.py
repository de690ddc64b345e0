"""When is a source task done? A pure count of tasks that come and go between the stages."""

from __future__ import annotations

__all__ = ["Completion"]


class Completion:
    """Follows all descendants of every source task through the positions of a run: its stages or steps.

    A source is complete when every task that was put in front of a position has been used up by it: what entered by the
    first, what each made by the next, what the last made by the caller. This holds in whatever order the positions
    report, because tasks that nobody has reported as made cannot balance those that were used up.

    >>> flow = Completion(positions=1)
    >>> flow.entered("a")
    >>> flow.moved(0, "a", made=1), flow.moved(0, "a", used=1), flow.delivered("a")
    (False, False, True)

    Args:
        positions: How many stages or steps there are.
    """

    def __init__(self, positions: int) -> None:
        self._positions = positions
        # For each source, tasks put in front of and used up by each position; the caller comes last.
        self._flows: dict[str, tuple[list[int], list[int]]] = {}

    def __contains__(self, source: str) -> bool:
        return source in self._flows

    def __len__(self) -> int:
        return len(self._flows)

    def entered(self, source: str) -> None:
        """Record that the source task was given to the first position."""
        self._flow(source)[0][0] += 1

    def moved(self, position: int, source: str, *, used: int = 0, made: int = 0) -> bool:
        """Record tasks that a position has used up and made; return whether the source is complete now.

        A task counts as used up when all that is made of it has been counted, in this report or before.
        """
        offered, taken = self._flow(source)
        offered[position + 1] += made
        taken[position] += used
        return self._settle(source, offered, taken)

    def delivered(self, source: str) -> bool:
        """Record that an output was delivered; return whether the source is complete now."""
        offered, taken = self._flow(source)
        taken[self._positions] += 1
        return self._settle(source, offered, taken)

    def _settle(self, source: str, offered: list[int], taken: list[int]) -> bool:
        if taken != offered:
            return False
        del self._flows[source]
        return True

    def _flow(self, source: str) -> tuple[list[int], list[int]]:
        flow = self._flows.get(source)
        if flow is None:
            flow = self._flows[source] = [0] * (self._positions + 1), [0] * (self._positions + 1)
        return flow
