"""CPUs that later steps are waiting for: earlier steps must not be fed there any further."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.executors.streaming.step_state import StepState

__all__ = ["Claims"]

_MOST_CALLS = 8


class Claims:
    """What the steps behind are waiting for, during one round of dispatch.

    A worker keeps its lease as long as it has calls. So where idle workers of a later step wait for a CPU, feeding the
    earlier steps would keep the CPUs from the work that is nearest to its end.
    """

    def __init__(self) -> None:
        self._nodes: set[str] = set()
        self._waiting: list[list] = []  # type: ignore[type-arg]

    def claim(self, node_id: str) -> None:
        """Claim the next free CPUs of a node."""
        self._nodes.add(node_id)

    def claim_anywhere(self, step: StepState, calls: int) -> None:
        """Claim CPUs for a number of calls, on any nodes where the step has idle workers."""
        self._waiting.append([step, min(calls, _MOST_CALLS)])

    def block(self, node_id: str) -> bool:
        """Return whether a node is claimed; a claim for anywhere settles on the first node it is asked about."""
        if node_id in self._nodes:
            return True
        for waiting in self._waiting:
            step, calls = waiting
            if calls and step.has_idle(node_id):
                waiting[1] -= 1
                self._nodes.add(node_id)
                return True
        return False
