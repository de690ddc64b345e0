"""Notice nodes that join or leave the cluster during a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.executors.cluster import list_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.executors.cluster import NodeResources
    from curator_core.executors.streaming.reservation import Reservation

__all__ = ["NodeWatch"]

_INTERVAL_S = 2.0


class NodeWatch:
    """Compares the cluster with what it was.

    Args:
        known: The nodes in use.
        reservation: What the run may use of a cluster that it shares; None for a Ray of its own on one machine, where
            nodes cannot come and go.
        ignored: Ids of nodes that are not to be used.
    """

    def __init__(
        self, known: Iterable[NodeResources], reservation: Reservation | None, *, ignored: Iterable[str] = ()
    ) -> None:
        self._known = {node.node_id for node in known}
        self._reservation = reservation
        self._ignored = set(ignored)
        self._next_s = _INTERVAL_S

    def changes(self, now: float, *, at_once: bool = False) -> tuple[list[NodeResources], list[str]]:
        """Return the nodes that have joined and the ids of those that have left since the last time.

        Args:
            now: Seconds since the start of the run; the cluster is asked every few seconds only.
            at_once: Ask now, because something has happened.
        """
        if self._reservation is None or (now < self._next_s and not at_once):
            return [], []
        self._next_s = now + _INTERVAL_S
        alive = {node.node_id: node for node in list_nodes()}
        new = [node for node_id, node in alive.items() if node_id not in self._known | self._ignored]
        joined = [self._reservation.extend(node) for node in new]
        left = [node_id for node_id in self._known if node_id not in alive]
        self._known = (self._known | {node.node_id for node in joined}) - set(left)
        return joined, left
