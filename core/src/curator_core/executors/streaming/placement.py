"""On which node a worker starts: held resources are packed, the rest is spread."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curator_core.executors.streaming.model import Held, Node

__all__ = ["Place", "Placement"]

_SLACK = 1e-6
_STALE = 4  # entries of a ranking per node before it is made anew


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
    version: int = 0  # of what is free


class Placement:
    """Free held resources per node.

    Every step has a ranking of the nodes. A change on a node enters it anew, and entries that are out of date are
    passed over: finding a place does not take longer on many nodes.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._rooms: dict[str, _Room] = {}
        self._rankings: dict[int, _Ranking] = {}
        self._versions = 0
        self.capacity: dict[str, float] = {}
        """What all nodes have of each resource that can be held."""
        self.largest_gpu_gb: float | None = None
        for node in nodes:
            self._rooms[node.node_id] = _Room(node, [1.0] * node.gpus, node.memory_bytes, dict(node.custom))
        self._sum_up()

    @property
    def nodes(self) -> list[Node]:
        """The nodes that workers can be started on."""
        return [room.node for room in self._rooms.values()]

    def add_node(self, node: Node) -> None:
        """Let workers be started on a node."""
        room = _Room(node, [1.0] * node.gpus, node.memory_bytes, dict(node.custom))
        self._rooms[node.node_id] = room
        self._enter(room)
        self._sum_up()

    def remove_node(self, node_id: str) -> None:
        """Start no more workers on a node."""
        self._rooms.pop(node_id, None)
        self._sum_up()

    def place(self, step: int, held: Held, *, cpus: float = 0.0) -> Place | None:
        """Reserve room for a worker, or return None when no node has any.

        A worker that holds something goes where least is left over, so that large requests still find a whole GPU; one
        that holds nothing goes where its step has the fewest workers per CPU.
        """
        ranking = self._rankings.get(step)
        if ranking is None or (ranking.held, ranking.cpus) != (held, cpus):
            ranking = self._rankings[step] = _Ranking(step, held, cpus, self._rooms)
        place = ranking.best()
        if place is not None:
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
        self._enter(room)

    def _enter(self, room: _Room) -> None:
        self._versions += 1
        room.version = self._versions  # unlike any other, so that a node that comes back is not taken for its old self
        for ranking in self._rankings.values():
            ranking.enter(room)

    def _sum_up(self) -> None:
        self.capacity = {}
        for room in self._rooms.values():
            node = room.node
            for name, amount in {"gpu": float(node.gpus), "memory": float(node.memory_bytes), **node.custom}.items():
                self.capacity[name] = self.capacity.get(name, 0.0) + amount
        sizes = [room.node.gpu_memory_gb for room in self._rooms.values() if room.node.gpu_memory_gb]
        self.largest_gpu_gb = max(sizes, default=None)


class _Ranking:
    """The nodes where a worker of a step fits, best first."""

    def __init__(self, step: int, held: Held, cpus: float, rooms: dict[str, _Room]) -> None:
        self.step = step
        self.held = held
        self.cpus = cpus
        self._is_held = bool(held)
        self._rooms = rooms
        self._heap: list[tuple[float, int, str]] = []
        self._make_anew()

    def enter(self, room: _Room) -> None:
        """Rank a node by what is free there now."""
        entry = self._entry(room)
        if entry is not None:
            heapq.heappush(self._heap, entry)
            if len(self._heap) > _STALE * (len(self._rooms) + 1):
                self._make_anew()

    def best(self) -> Place | None:
        """Return the best place."""
        while self._heap:
            _, version, node_id = self._heap[0]
            room = self._rooms.get(node_id)
            if room is not None and room.version == version:
                share = _fit(room, self.held)
                assert share is not None
                return Place(node_id, share)
            heapq.heappop(self._heap)
        return None

    def _make_anew(self) -> None:
        entries = (self._entry(room) for room in self._rooms.values())
        self._heap = [entry for entry in entries if entry is not None]
        heapq.heapify(self._heap)

    def _entry(self, room: _Room) -> tuple[float, int, str] | None:
        node = room.node
        if node.cpus + _SLACK < self.cpus:
            return None
        share = _fit(room, self.held)
        if share is None:
            return None
        load = (room.workers_of_step.get(self.step, 0) + 1e-3 * room.workers) / max(node.cpus, 1.0) * 1e-3
        return (_left_over(room, share) + load if self._is_held else load), room.version, node.node_id


def _fit(room: _Room, held: Held) -> tuple[tuple[int, float], ...] | None:
    """Return the GPUs a worker would get on a node (none if it needs none), or None if it does not fit."""
    if held.memory_bytes > room.memory_bytes:
        return None
    for name, amount in held.custom.items():
        if amount > room.custom.get(name, 0.0) + _SLACK:
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
