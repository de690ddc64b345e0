"""On which node a worker starts: held resources are packed, the rest is spread."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.model import Held

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from curator_core.executors.streaming.engine.model import Node, StepSpec

__all__ = ["Place", "Placement", "Room"]

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
class Room:
    """What is free on a node."""

    node: Node
    gpus: list[float]
    memory_bytes: int
    custom: dict[str, float]
    workers: int = 0
    workers_of_step: dict[int, int] = field(default_factory=dict)
    version: int = 0  # of what is free
    barred: set[int] = field(default_factory=set)  # steps whose workers are not to be started here

    @classmethod
    def of(cls, node: Node) -> Room:
        """Return all of a node."""
        return cls(node, [1.0] * node.gpus, node.memory_bytes, dict(node.custom))

    def copy(self) -> Room:
        """Return the same, to try things on."""
        return Room(self.node, list(self.gpus), self.memory_bytes, dict(self.custom), barred=self.barred)

    def emptied(self) -> Room:
        """Return the same node without any workers, to try things on."""
        return replace(Room.of(self.node), barred=self.barred)

    def share_for(self, step: int, held: Held, *, cpus: float) -> tuple[tuple[int, float], ...] | None:
        """Return the GPUs that a worker of a step would get here, or None if it cannot be started here."""
        if step in self.barred or self.node.cpus + _SLACK < cpus:
            return None
        return self.fit(held)

    def can_give(self, share: tuple[tuple[int, float], ...], held: Held) -> bool:
        """Return whether just these GPUs are free, and the rest that a worker holds."""
        return all(self.gpus[index] + _SLACK >= part for index, part in share) and self._has_rest(held)

    def fit(self, held: Held) -> tuple[tuple[int, float], ...] | None:
        """Return the GPUs that a worker would get (none if it needs none), or None if what it holds is not free."""
        if not self._has_rest(held):
            return None
        wanted = held.gpus
        if held.gpu_memory_gb:
            size_gb = self.node.gpu_memory_gb
            if not size_gb or held.gpu_memory_gb > size_gb:
                return None
            wanted = held.gpu_memory_gb / size_gb
        if not wanted:
            return ()
        if wanted <= 1.0:
            fitting = [(free, index) for index, free in enumerate(self.gpus) if free + _SLACK >= wanted]
            return ((min(fitting)[1], wanted),) if fitting else None
        whole = [index for index, free in enumerate(self.gpus) if free + _SLACK >= 1.0]
        return tuple((index, 1.0) for index in whole[: int(wanted)]) if len(whole) >= wanted else None

    def _has_rest(self, held: Held) -> bool:
        """Return whether the memory and the custom resources are free that a worker holds."""
        if held.memory_bytes > self.memory_bytes:
            return False
        return all(amount <= self.custom.get(name, 0.0) + _SLACK for name, amount in held.custom.items())

    def book(self, share: tuple[tuple[int, float], ...], held: Held, *, sign: int) -> None:
        """Take (-1) or give back (1) what a worker holds."""
        for index, part in share:
            self.gpus[index] += sign * part
        self.memory_bytes += sign * held.memory_bytes
        for name, amount in held.custom.items():
            self.custom[name] = self.custom.get(name, 0.0) + sign * amount


class Placement:
    """Free held resources per node.

    Every step has a ranking of the nodes. A change on a node enters it anew, and entries that are out of date are
    passed over: finding a place does not take longer on many nodes.

    Args:
        nodes: The nodes.
        held: What workers of the run hold. Where some need several GPUs, more memory or more of a custom resource
            than others, the others are packed on few nodes.
    """

    def __init__(self, nodes: Iterable[Node], held: Iterable[Held] = ()) -> None:
        self._held = list(held)
        self.rooms = {node.node_id: Room.of(node) for node in nodes}
        """What is free, by node."""
        self._rankings: dict[int, _Ranking] = {}
        self._versions = 0
        self.capacity: dict[str, float] = {}
        """What all nodes have of each resource that can be held."""
        self.largest_gpu_gb: float | None = None
        self.node_changes = 0
        """How often a node was added, removed or grown, or a step was barred from one or allowed there again."""
        self._sum_up()

    @property
    def nodes(self) -> list[Node]:
        """The nodes that workers can be started on."""
        return [room.node for room in self.rooms.values()]

    def add_node(self, node: Node) -> None:
        """Let workers be started on a node."""
        room = Room.of(node)
        self.rooms[node.node_id] = room
        self._enter(room)
        self._sum_up()

    def grow_node(self, node: Node) -> None:
        """Let workers hold things on a node that had nothing to hold."""
        room = self.rooms.get(node.node_id)
        if room is not None:
            fresh = Room.of(node)
            room.node, room.gpus, room.memory_bytes, room.custom = node, fresh.gpus, fresh.memory_bytes, fresh.custom
            self._enter(room)
            self._sum_up()

    def remove_node(self, node_id: str) -> None:
        """Start no more workers on a node."""
        self.rooms.pop(node_id, None)
        self._sum_up()

    def place(self, step: int, held: Held, *, cpus: float = 0.0, avoid: Container[str] = frozenset()) -> Place | None:
        """Reserve room for a worker, or return None when no node has any.

        A worker that holds something goes where least is left over, so that large requests still find a whole GPU, or
        several; one that holds nothing goes where its step has the fewest workers per CPU.

        Args:
            step: Index of the step.
            held: What the worker holds.
            cpus: What it leases.
            avoid: Nodes where it must not go.
        """
        ranking = self._rankings.get(step)
        if ranking is None or (ranking.held, ranking.cpus) != (held, cpus):
            ranking = self._rankings[step] = _Ranking(step, held, cpus, self.rooms, self._is_packed(held))
        place = ranking.best(avoid)
        if place is not None:
            self._book(place, step, held, sign=-1)
        return place

    def bar(self, step: int, node_id: str, *, is_barred: bool = True) -> None:
        """Start no workers of a step on a node, or allow it again."""
        room = self.rooms.get(node_id)
        if room is not None and (step in room.barred) != is_barred:
            room.barred ^= {step}
            self.node_changes += 1
            self._enter(room)

    def could_place(self, step: int, held: Held, *, cpus: float = 0.0) -> bool:
        """Return whether a worker fits on a node that it is not barred from, whatever others hold there now."""
        return any(room.emptied().share_for(step, held, cpus=cpus) is not None for room in self.rooms.values())

    def emptied(self, held: Iterable[Held]) -> Placement:
        """Return the same nodes without any workers, to try out where those that hold so much would go."""
        placement = Placement(self.nodes, held)
        for node_id, room in placement.rooms.items():
            room.barred = self.rooms[node_id].barred
        return placement

    def place_on(self, node_id: str, step: int, held: Held, *, cpus: float = 0.0) -> Place | None:
        """Reserve room for a worker on one node, or return None when there is none."""
        room = self.rooms.get(node_id)
        share = None if room is None else room.share_for(step, held, cpus=cpus)
        if share is None:
            return None
        place = Place(node_id, share)
        self._book(place, step, held, sign=-1)
        return place

    def give_back(self, place: Place, step: int, held: Held) -> None:
        """Return what a worker held."""
        if place.node_id in self.rooms:
            self._book(place, step, held, sign=1)

    def describe_largest(self, spec: StepSpec) -> str:
        """Return what is free on the node that comes nearest to a worker of a step, of the resources that it needs."""
        places = [(room.node.cpus, _free_for(room, spec.held)) for room in self.rooms.values()]
        if not places:
            return "nothing: no node is left"
        cpus, largest = max(
            places, key=lambda each: (each[1].gpus, each[1].memory_bytes, *each[1].custom.values(), each[0])
        )
        return replace(spec, cpus=cpus, held=largest).describe()

    def _book(self, place: Place, step: int, held: Held, *, sign: int) -> None:
        room = self.rooms[place.node_id]
        room.book(place.gpu_share, held, sign=sign)
        room.workers -= sign
        room.workers_of_step[step] = room.workers_of_step.get(step, 0) - sign
        self._enter(room)

    def _is_packed(self, held: Held) -> bool:
        """Return whether other workers hold more of something that is counted by node."""
        return any(
            each.gpus > max(1.0, held.gpus)
            or each.memory_bytes > held.memory_bytes
            or any(amount > held.custom.get(name, 0.0) for name, amount in each.custom.items())
            for each in self._held
        )

    def _enter(self, room: Room) -> None:
        self._versions += 1
        room.version = self._versions  # unlike any other, so that a node that comes back is not taken for its old self
        for ranking in self._rankings.values():
            ranking.enter(room)

    def _sum_up(self) -> None:
        self.node_changes += 1
        self.capacity = {}
        for room in self.rooms.values():
            node = room.node
            for name, amount in {"gpu": float(node.gpus), "memory": float(node.memory_bytes), **node.custom}.items():
                self.capacity[name] = self.capacity.get(name, 0.0) + amount
        sizes = [room.node.gpu_memory_gb for room in self.rooms.values() if room.node.gpu_memory_gb]
        self.largest_gpu_gb = max(sizes, default=None)


class _Ranking:
    """The nodes where a worker of a step fits, best first."""

    def __init__(self, step: int, held: Held, cpus: float, rooms: dict[str, Room], is_packed: bool) -> None:  # noqa: FBT001
        self.step = step
        self._is_packed = is_packed
        self.held = held
        self.cpus = cpus
        self._is_held = bool(held)
        self._rooms = rooms
        self._heap: list[tuple[tuple[float, ...], int, str]] = []
        self._make_anew()

    def enter(self, room: Room) -> None:
        """Rank a node by what is free there now."""
        entry = self._entry(room)
        if entry is not None:
            heapq.heappush(self._heap, entry)
            if len(self._heap) > _STALE * (len(self._rooms) + 1):
                self._make_anew()

    def best(self, avoid: Container[str]) -> Place | None:
        """Return the best place that is not on a node to avoid."""
        avoided = []
        place = None
        while self._heap and place is None:
            _, version, node_id = self._heap[0]
            room = self._rooms.get(node_id)
            if room is not None and room.version == version and node_id not in avoid:
                share = room.fit(self.held)
                assert share is not None
                place = Place(node_id, share)
            else:
                entry = heapq.heappop(self._heap)
                if node_id in avoid:
                    avoided.append(entry)
        for entry in avoided:
            heapq.heappush(self._heap, entry)
        return place

    def _make_anew(self) -> None:
        entries = (self._entry(room) for room in self._rooms.values())
        self._heap = [entry for entry in entries if entry is not None]
        heapq.heapify(self._heap)

    def _entry(self, room: Room) -> tuple[tuple[float, ...], int, str] | None:
        node = room.node
        share = room.share_for(self.step, self.held, cpus=self.cpus)
        if share is None:
            return None
        load = (room.workers_of_step.get(self.step, 0) + 1e-3 * room.workers) / max(node.cpus, 1.0)
        if not self._is_held:
            key: tuple[float, ...] = (load,)
        elif self._is_packed:
            key = (_left_over(room, share), sum(room.gpus), room.memory_bytes, sum(room.custom.values()), load)
        else:
            key = (_left_over(room, share), load)
        return key, room.version, node.node_id


def _left_over(room: Room, share: tuple[tuple[int, float], ...]) -> float:
    """Return how much of the touched GPUs stays free: the less, the better packed."""
    return sum(room.gpus[index] - part for index, part in share)


def _free_for(room: Room, held: Held) -> Held:
    """Return what is free on a node of the resources that a worker holds."""
    gpus = 0.0
    if held.gpus > 1:
        gpus = sum(free + _SLACK >= 1.0 for free in room.gpus)
    elif held.gpus or held.gpu_memory_gb:
        gpus = max(room.gpus, default=0.0)
    custom = {name: room.custom.get(name, 0.0) for name in held.custom}
    return Held(gpus, memory_bytes=room.memory_bytes if held.memory_bytes else 0, custom=custom)
