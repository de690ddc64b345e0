"""What becomes of calls whose worker died or whose inputs were lost, and when a task is to blame for that."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.actions import Deliver, GiveUp
from curator_core.executors.streaming.engine.model import Call, cut
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from curator_core.executors.streaming.engine.board import Board
    from curator_core.executors.streaming.engine.model import CallResult, Chunk, LossCause, Slice
    from curator_core.executors.streaming.engine.step_state import StepState

__all__ = ["Blame", "Recovery"]


class Recovery:
    """Turns failed calls into retries, smaller calls and quarantine records."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._blame = Blame(board.tuning)
        self._parked: dict[int, list[tuple[StepState, list[Slice]]]] = defaultdict(list)  # until a chunk is made again
        self._postponed: dict[int, list[Deliver | GiveUp]] = defaultdict(list)  # the same
        self._replayed: set[int] = set()  # chunks that are being made again

    def suspect(self, step: StepState, call: Call, cause: LossCause) -> None:
        """See to a call whose worker died. Which task did it is unknown, so parts of the call are tried alone.

        Where the whole node is gone, no task is to blame; nor where the worker had not begun with the task, or was
        through with it, unless that happens again and again.
        """
        if call.kind == "replay":
            call.timeouts += cause == "timeout"
            step.urgent.appendleft(call)
            return
        if cause == "node" and call.kind == "normal" and not call.emitted:
            step.push_back(call.inputs)
            return
        losses = call.losses + (call.is_noted and cause != "node")
        deaths = call.deaths + (call.is_noted and cause not in ("node", "between"))
        if call.is_noted and cause == "between":
            self._blame.unprovoked()
        if self._blame.is_guilty(deaths, losses, cause):
            deaths = max(deaths, losses if cause == "between" else 0)
            self._board.actions.append(GiveUp(call, deaths, cause))
            self._board.commit(step, call.inputs)
            return
        for part in _split(call.inputs, self._board.tuning.suspect_parts):
            step.urgent.append(
                Call(
                    self._board.next_id(),
                    step.index,
                    part,
                    kind="lone",
                    deaths=deaths,
                    losses=losses,
                    cause=call.cause if cause in ("node", "between") else cause,
                    emitted=call.emitted,
                )
            )

    def lost_idle_worker(self) -> None:
        """Note a worker that died without anything to do."""
        self._blame.unprovoked()

    def came_through(self, call: Call) -> None:
        """Note a call that is done."""
        if call.is_noted:
            self._blame.came_through(call)

    def lost_inputs(self, step: StepState, call: Call, lost: list[Chunk]) -> None:
        """See to a call that could not start because some of its inputs are gone: make them again, then repeat it."""
        if call.kind in ("lone", "replay"):
            step.urgent.append(call)  # it waits there until its inputs have a handle again
        else:
            step.push_back([each for each in call.inputs if each.chunk not in lost])
            for chunk in lost:
                slices = [each for each in call.inputs if each.chunk is chunk]
                self._parked[chunk.chunk_id].append((step, slices))
                step.parked_tasks += sum(map(len, slices))
        for chunk in lost:
            self.restore(chunk)

    def lost_output(self, chunk: Chunk) -> None:
        """See to outputs of the last step that are gone before the caller had them."""
        self._postponed[chunk.chunk_id].append(Deliver(chunk))
        self.restore(chunk)

    def lost_suspect(self, action: GiveUp) -> None:
        """See to a task that is gone before it could be put into quarantine: make it again, then give it up."""
        chunk = action.call.inputs[0].chunk
        chunk.pins += 1
        self._postponed[chunk.chunk_id].append(action)
        self.restore(chunk)

    def restore(self, chunk: Chunk) -> None:
        """Make a lost chunk again by repeating the call that made it, its inputs first if they are gone too."""
        chunk.handle = None
        made_by = chunk.made_by
        if made_by is None or chunk.is_root:
            made = "source tasks" if made_by is None else f"tasks of step {self._board.steps[made_by.step].spec.name!r}"
            raise StageError(
                f"{made} were lost from the object store of the driver's node, and they cannot be made again",
                fix="see Ray's logs for why objects were lost, look at the free space of its spill folder, and resume",
            )
        step = self._board.steps[made_by.step]
        if chunk.chunk_id in self._replayed:
            return
        self._replayed.add(chunk.chunk_id)
        for each in made_by.inputs:
            each.chunk.pins += 1
            if each.chunk.handle is None:
                self.restore(each.chunk)
        step.urgent.append(Call(self._board.next_id(), step.index, made_by.inputs, kind="replay", target=chunk))

    def restored(self, call: Call, result: CallResult) -> None:
        """Take in a chunk that was made again, and let go on what waited for it.

        Raises:
            StageError: It has fewer tasks than before.
        """
        chunk = call.target
        assert chunk is not None
        if result.outputs < chunk.count:
            name = self._board.steps[call.step].spec.name
            raise StageError(
                f"step {name!r} made only {result.outputs} of {chunk.count} lost outputs again when it was repeated",
                fix="let its stages return as many outputs each time they are given the same input, and resume",
            )
        self._replayed.discard(chunk.chunk_id)
        chunk.handle, chunk.node_id = result.handle, result.node_id
        for each in call.inputs:
            each.chunk.pins -= 1
            self._board.forget_if_done(each.chunk)
        for step, slices in self._parked.pop(chunk.chunk_id, []):
            step.parked_tasks -= sum(map(len, slices))
            step.push_back(slices)
        for action in self._postponed.pop(chunk.chunk_id, []):
            self._board.actions.append(action)
            if isinstance(action, GiveUp):
                chunk.pins -= 1
                self._board.forget_if_done(chunk)

    @property
    def is_waiting(self) -> bool:
        """Whether tasks have to be made again for the caller or for quarantine."""
        return bool(self._postponed)


def _split(slices: list[Slice], parts: int) -> list[list[Slice]]:
    """Cut tasks into so many parts of nearly equal size."""
    size = -(-sum(map(len, slices)) // parts)
    found = []
    while slices:
        part, slices = cut(slices, size)
        found.append(part)
    return found


class Blame:
    """Weighs deaths of workers against a task that was alone with them.

    Something outside may end workers: an operator, a cluster manager, the memory of another program. It shows in
    workers that die in no stage, and in tasks that come through after workers have died with them. The more of that is
    seen among all tries, the more deaths it takes to blame a task.
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
