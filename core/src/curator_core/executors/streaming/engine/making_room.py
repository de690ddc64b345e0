"""Workers of different sizes on the same nodes: which fit together, and which must stop so that others find room."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import Held, Worker
    from curator_core.executors.streaming.engine.placement import Room
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["by_size", "make_room", "places_in_turn", "trial_placement", "workers_by_load"]


def by_size(steps: Iterable[StepState]) -> list[StepState]:
    """Return steps in the order in which their workers are placed: those that hold most first, the small fill gaps."""

    def size(step: StepState) -> tuple[float, ...]:
        held = step.spec.held
        return -held.gpus, -held.gpu_memory_gb, -held.memory_bytes, -sum(held.custom.values()), step.index

    return sorted(steps, key=size)


def trial_placement(board: Board, wanted: Sequence[tuple[StepState, int]]) -> list[int]:
    """Return how many of the wanted workers find a place if the nodes were empty, placed in the given order."""
    rooms = [room.emptied() for room in board.placement.rooms.values()]
    placed = []
    for step, count in wanted:
        left = count
        rooms.sort(key=_tightness)
        for room in rooms:
            while left and _take(room, step):
                left -= 1
            if not left:
                break
        placed.append(count - left)
    return placed


def places_in_turn(board: Board, order: Sequence[StepState]) -> dict[int, str]:
    """Return the node of one worker of each step that finds a place when those before it in the order have theirs.

    A step that has workers keeps the place of one, if nobody before it was given that.
    """
    rooms = {node_id: room.emptied() for node_id, room in board.placement.rooms.items()}
    places: dict[int, str] = {}
    for step in order:
        held = step.spec.held
        live = workers_by_load(step)
        if live:
            kept = live[-1]
            room = rooms.get(kept.node_id)
            if room is not None and room.can_give(kept.gpu_share, held):
                room.book(kept.gpu_share, held, sign=-1)
                places[step.index] = kept.node_id
            continue
        for room in sorted(rooms.values(), key=_tightness):
            if _take(room, step):
                places[step.index] = room.node.node_id
                break
    return places


def workers_by_load(step: StepState) -> list[Worker]:
    """Return the workers whose calls to resume, in the order in which they could end soonest."""
    return sorted((worker for worker in step.workers.values() if worker.phase != "draining"), key=_load)


def make_room(board: Board, wanted: Sequence[int]) -> tuple[list[Worker], dict[int, set[str]]]:
    """Find room for the workers that are missing: what ends anyway, then those too many, then those that can move.

    A worker moves for one of a step that holds more, if it finds another place. Whoever fits on what is free has been
    started already.

    Returns:
        Workers to stop, and the nodes that are kept for workers of a step until those in their place have ended.
    """
    promised: dict[int, set[str]] = {}
    steps = by_size(step for step in board.steps if step.holds)
    surplus = {step.index: max(0, step.live_workers - wanted[step.index]) for step in steps}
    site = _Site(board, surplus)
    for position, step in enumerate(steps):
        smaller = {each.index for each in steps[position + 1 :]}
        for _ in range(step.live_workers, wanted[step.index]):
            node_id = site.take(step, smaller)
            if node_id is None:
                break
            promised.setdefault(step.index, set()).add(node_id)
    return site.stops, promised


class _Site:
    """The nodes as they will be when all workers have ended that are told to."""

    def __init__(self, board: Board, surplus: dict[int, int]) -> None:
        self.stops: list[Worker] = []
        self._board = board
        self._surplus = surplus
        self._rooms = {node_id: room.copy() for node_id, room in board.placement.rooms.items()}
        self._workers: dict[str, list[Worker]] = {node_id: [] for node_id in self._rooms}
        for worker in board.workers.values():
            if worker.node_id not in self._rooms or not board.steps[worker.step].holds:
                continue
            if worker.phase == "draining":
                self._rooms[worker.node_id].book(worker.gpu_share, self._held(worker), sign=1)
            else:
                self._workers[worker.node_id].append(worker)

    def _held(self, worker: Worker) -> Held:
        return self._board.steps[worker.step].spec.held

    def take(self, step: StepState, smaller: set[int]) -> str | None:
        """Take room for a worker of a step, made by stopping others if need be; return the node."""
        fitting = (node_id for node_id, room in self._rooms.items() if _fits(room, step))
        node_id = next(fitting, None) or self._clear_node(step, smaller)
        if node_id is not None:
            _take(self._rooms[node_id], step)
        return node_id

    def _clear_node(self, step: StepState, smaller: set[int]) -> str | None:
        """Have workers of one node stopped so that another fits there; take the node where that costs least."""
        best: tuple[tuple[int, int, int], str, list[Worker]] | None = None
        for node_id in itertools.islice(self._by_load(), self._board.tuning.searched_nodes):
            stops = self._stops(node_id, step, smaller)
            if stops is None:
                continue
            moved = self._moved(stops)
            if moved and not self._fit_elsewhere(node_id, step, stops, moved):
                continue
            loads = [_load(worker) for worker in stops]
            cost = len(moved), sum(is_ready for is_ready, _ in loads), sum(calls for _, calls in loads)
            if best is None or cost < best[0]:
                best = cost, node_id, stops
        if best is None:
            return None
        _, node_id, stops = best
        for worker in stops:
            self._surplus[worker.step] = max(0, self._surplus[worker.step] - 1)
            self._rooms[node_id].book(worker.gpu_share, self._held(worker), sign=1)
            self._workers[node_id].remove(worker)
        self.stops += stops
        return node_id

    def _by_load(self) -> list[str]:
        """Return the nodes, those first where workers that are too many have the least to do."""

        def load(node_id: str) -> tuple[bool, tuple[bool, int]]:
            spare = [_load(worker) for worker in self._workers[node_id] if self._surplus[worker.step]]
            return not spare, min(spare, default=(False, 0))

        return sorted(self._rooms, key=load)

    def _stops(self, node_id: str, step: StepState, smaller: set[int]) -> list[Worker] | None:
        """Return the workers to stop on a node, those first that are too many and have little to do."""
        left = dict(self._surplus)
        room = self._rooms[node_id].copy()
        spare, movable = [], []
        for worker in sorted(self._workers[node_id], key=_load):
            if left[worker.step]:
                left[worker.step] -= 1
                spare.append(worker)
            elif worker.step in smaller:
                movable.append(worker)
        stops: list[Worker] = []
        for worker in [*spare, *movable]:
            if _fits(room, step):
                break
            room.book(worker.gpu_share, self._held(worker), sign=1)
            stops.append(worker)
        if not _fits(room, step):
            return None
        for worker in list(reversed(stops)):  # the last one made it fit; some before may not have been needed
            room.book(worker.gpu_share, self._held(worker), sign=-1)
            if _fits(room, step):
                stops.remove(worker)
            else:
                room.book(worker.gpu_share, self._held(worker), sign=1)
        return stops

    def _moved(self, stops: list[Worker]) -> list[Worker]:
        """Return those who are to start again elsewhere."""
        left = dict(self._surplus)
        moved = []
        for worker in stops:
            if left[worker.step]:
                left[worker.step] -= 1
            else:
                moved.append(worker)
        return moved

    def _fit_elsewhere(self, node_id: str, step: StepState, stops: list[Worker], moved: list[Worker]) -> bool:
        """Return whether all find a place when the new worker has its own."""
        rooms = {name: room.copy() for name, room in self._rooms.items()}
        for worker in stops:
            rooms[node_id].book(worker.gpu_share, self._held(worker), sign=1)
        _take(rooms[node_id], step)
        return all(any(_take(room, self._board.steps[worker.step]) for room in rooms.values()) for worker in moved)


def _fits(room: Room, step: StepState) -> bool:
    """Return whether a worker of a step can be started on a node."""
    return room.share_for(step.index, step.spec.held, cpus=step.spec.cpus) is not None


def _take(room: Room, step: StepState) -> bool:
    """Take room for a worker of a step, if it can be started on a node; return whether it can."""
    share = room.share_for(step.index, step.spec.held, cpus=step.spec.cpus)
    if share is not None:
        room.book(share, step.spec.held, sign=-1)
    return share is not None


def _tightness(room: Room) -> tuple[float, ...]:
    """Order nodes by what is free: workers go where little is, so that much stays free elsewhere."""
    return sum(room.gpus), room.memory_bytes, sum(room.custom.values())


def _load(worker: Worker) -> tuple[bool, int]:
    """Order workers by how soon they could end: those that are not ready yet, then by calls in hand."""
    return worker.phase == "ready", len(worker.calls) + (worker.suspended is not None)
