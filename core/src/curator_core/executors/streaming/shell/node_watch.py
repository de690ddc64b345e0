"""Notice nodes that join or leave the cluster during a run."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curator_core.executors.ray import import_ray
from curator_core.executors.ray.nodes import list_nodes
from curator_core.executors.streaming.engine.tuning import Tuning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.executors.ray.nodes import NodeResources
    from curator_core.executors.streaming.shell.reservation import Reservation

__all__ = ["NodeChanges", "NodeWatch"]


@dataclass(frozen=True)
class NodeChanges:
    """Nodes that are new, ids of those that are gone, and nodes of which the run may use more than before."""

    joined: list[NodeResources] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    grown: list[NodeResources] = field(default_factory=list)


class NodeWatch:
    """Compares the cluster with what it was.

    Args:
        known: The nodes in use.
        reservation: What the run may use of a cluster that it shares; None for a Ray of its own on one machine, where
            nodes cannot come and go.
        ignored: Ids of nodes that are not to be used.
        tuning: How often to look, and how long to wait for a node.
    """

    def __init__(
        self,
        known: Iterable[NodeResources],
        reservation: Reservation | None,
        *,
        ignored: Iterable[str] = (),
        tuning: Tuning = Tuning(),
    ) -> None:
        self._tuning = tuning
        self._known = {node.node_id for node in known}
        self._reservation = reservation
        self._ignored = set(ignored)
        self._next_s = tuning.node_interval_s
        self._unreachable: set[str | None] = set()  # since the cluster was asked last

    def changes(self, now: float, *, at_once: bool = False) -> NodeChanges:
        """Return which nodes have joined and left since the last time, and which make up for those that left.

        Args:
            now: Seconds since the start of the run; the cluster is asked every few seconds only.
            at_once: Ask now, because something has happened.
        """
        if self._reservation is None or (now < self._next_s and not at_once):
            return NodeChanges()
        self._next_s = now + self._tuning.node_interval_s
        self._unreachable.clear()
        alive = {node.node_id: node for node in list_nodes()}
        left = [node_id for node_id in self._known if node_id not in alive]
        for node_id in left:
            self._reservation.release(node_id)
        new = [node for node_id, node in alive.items() if node_id not in self._known | self._ignored]
        joined = [self._reservation.extend(node) for node in self._reservation.measured(new)]
        self._known -= set(left)
        grown = self._reservation.make_up([alive[node_id] for node_id in sorted(self._known)]) if left else []
        self._known |= {node.node_id for node in joined}
        return NodeChanges(joined, left, grown)

    def is_reachable(self, node_id: str | None) -> bool:
        """Return whether a node can be reached from here now; Ray takes a minute to give up one that cannot."""
        if self._reservation is None:
            return True
        if node_id in self._unreachable:
            return False  # to try again for each of its workers would keep the driver for seconds each time
        found = next((node for node in import_ray().nodes() if node["NodeID"] == node_id and node["Alive"]), None)
        if found is None:
            return False
        address = found["NodeManagerAddress"], found["NodeManagerPort"]
        try:
            socket.create_connection(address, timeout=self._tuning.node_probe_s).close()
        except OSError:
            self._unreachable.add(node_id)
            return False
        return True
