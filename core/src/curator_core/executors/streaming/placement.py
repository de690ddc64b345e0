"""On which node a worker starts: held resources are packed, the rest is spread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.executors.streaming.model import Held, Node

__all__ = ["Place", "Placement"]

_SLACK = 1e-6


@dataclass(frozen=True)
class Place:
    """A node, and which of its GPUs a worker gets (index and share)."""

    node_id: str
    gpu_share: tuple[tuple[int, float], ...] = ()

    @property
    def gpus(self) -> float:
        """GPUs in all."""
        return sum(share for _, share in self.gpu_share)


@dataclass
class _Room:
    node: Node
    gpus: list[float]
    memory_bytes: int
    custom: dict[str, float]
    workers: int = 0
    workers_of_step: dict[int, int] = field(default_factory=dict)


class Placement:
    """Free held resources per node."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._rooms: dict[str, _Room] = {}
        for node in nodes:
            self.add_node(node)

    @property
    def nodes(self) -> list[Node]:
        """The nodes that workers can be started on."""
        return [room.node for room in self._rooms.values()]

    def add_node(self, node: Node) -> None:
        """Let workers be started on a node."""
        self._rooms[node.node_id] = _Room(node, [1.0] * node.gpus, node.memory_bytes, dict(node.custom))

    def remove_node(self, node_id: str) -> None:
        """Start no more workers on a node."""
        self._rooms.pop(node_id, None)

    def place(self, step: int, held: Held, *, cpus: float = 0.0) -> Place | None:
        """Reserve room for a worker, or return None when no node has any.

        A worker that holds something goes where least is left over, so that large requests still find a whole GPU; one
        that holds nothing goes where its step has the fewest workers per CPU.
        """
        best: tuple[float, Place] | None = None
        for room in self._rooms.values():
            share = _fit(room, held) if room.node.cpus + _SLACK >= cpus else None
            if share is None:
                continue
            score = _left_over(room, share) if held else 0.0
            score += (room.workers_of_step.get(step, 0) + 1e-3 * room.workers) / max(room.node.cpus, 1.0) * 1e-3
            if best is None or score < best[0]:
                best = (score, Place(room.node.node_id, share))
        if best is None:
            return None
        place = best[1]
        self._book(place, step, held, sign=-1)
        return place

    def give_back(self, place: Place, step: int, held: Held) -> None:
        """Return what a worker held."""
        if place.node_id in self._rooms:
            self._book(place, step, held, sign=1)

    def _book(self, place: Place, step: int, held: Held, *, sign: int) -> None:
        room = self._rooms[place.node_id]
        for index, share in place.gpu_share:
            room.gpus[index] += sign * share
        room.memory_bytes += sign * held.memory_bytes
        for name, amount in held.custom.items():
            room.custom[name] = room.custom.get(name, 0.0) + sign * amount
        room.workers -= sign
        room.workers_of_step[step] = room.workers_of_step.get(step, 0) - sign


def _fit(room: _Room, held: Held) -> tuple[tuple[int, float], ...] | None:
    """Return the GPUs a worker would get on a node (none if it needs none), or None if it does not fit."""
    if held.memory_bytes > room.memory_bytes:
        return None
    if any(amount > room.custom.get(name, 0.0) + _SLACK for name, amount in held.custom.items()):
        return None
    wanted = held.gpus
    if held.gpu_memory_gb:
        size_gb = room.node.gpu_memory_gb
        if not size_gb or held.gpu_memory_gb > size_gb:
            return None
        wanted = held.gpu_memory_gb / size_gb
    if not wanted:
        return ()
    if wanted <= 1.0:
        fitting = [(free, index) for index, free in enumerate(room.gpus) if free + _SLACK >= wanted]
        return ((min(fitting)[1], wanted),) if fitting else None
    whole = [index for index, free in enumerate(room.gpus) if free + _SLACK >= 1.0]
    return tuple((index, 1.0) for index in whole[: int(wanted)]) if len(whole) >= wanted else None


def _left_over(room: _Room, share: tuple[tuple[int, float], ...]) -> float:
    """Return how much of the touched GPUs stays free: the less, the better packed."""
    return sum(room.gpus[index] - part for index, part in share)
