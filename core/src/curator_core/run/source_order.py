"""The order of source tasks, in a few bytes each, and outputs sorted by it."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from curator_core.authoring.tasks import source_id
from curator_core.run.outputs import Outputs
from curator_core.values.source_ids import SourceIds, as_digest, as_position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from curator_core.authoring.tasks import Task

__all__ = ["SourceOrder", "child_numbers", "in_order", "sorted_numbers"]

_FEW = 1 << 12
"""Up to so many are sorted as Python objects, which needs no numpy."""


class SourceOrder:
    """The places of source tasks, in the order in which they were first added.

    Neighbouring positions take no space, other positions 24 bytes, digests of files 8.

    >>> order = SourceOrder(["3f2a9c0d11e4b7a6", "a", "0"])
    >>> order.place("a"), order.place("0"), order.place("b")
    (1, 2, None)
    """

    def __init__(self, sources: Iterable[str] = ()) -> None:
        self._count = 0
        self._last: str | None = None
        # Positions: the first of each row of neighbours, and how far its place is from it.
        self._positions = SourceIds()
        self._next = self._offset = -1
        self._firsts, self._offsets = array("q"), array("q")
        # Digests, and from which of them on how far their place is from their number.
        self._digests = array("Q")
        self._breaks, self._shifts = array("q"), array("q")
        self._others: dict[str, int] = {}
        self._index: _Index | None = None
        for source in sources:
            self.add(source)

    def add(self, source: str) -> None:
        """Put a source task behind all others, unless it has a place."""
        if source == self._last:
            return
        self._last = source
        self._index = None
        position = as_position(source)
        if position is not None:
            if not self._positions.add(source):
                return
            self._begin_row(position)
            self._next = position + 1
        else:
            digest = as_digest(source)
            if digest is None:
                if source in self._others:
                    return
                self._others[source] = self._count
            else:
                shift = self._count - len(self._digests)
                if not self._shifts or self._shifts[-1] != shift:
                    self._breaks.append(len(self._digests))
                    self._shifts.append(shift)
                self._digests.append(digest)  # again, if it was there: the first is found
        self._count += 1

    def extend(self, sources: Sequence[str]) -> None:
        """Put source tasks behind all others; neighbouring positions are added at once."""
        start = as_position(sources[0]) if sources else None
        stop = 0 if start is None else start + len(sources)
        if (
            start is None
            or sources != list(map(str, range(start, stop)))
            or not self._positions.add_positions(start, stop)
        ):
            for source in sources:
                self.add(source)
            return
        self._begin_row(start)
        self._next, self._last, self._index = stop, sources[-1], None
        self._count += len(sources)

    def _begin_row(self, position: int) -> None:
        """Begin a row of neighbours, unless the position continues the last one."""
        if position != self._next or self._count - position != self._offset:
            self._offset = self._count - position
            self._firsts.append(position)
            self._offsets.append(self._offset)

    def place(self, source: str) -> int | None:
        """Return the place of a source task, or None where it has none."""
        if self._index is None:
            self._index = _Index(self._firsts, self._digests)
        position = as_position(source)
        if position is not None:
            if source not in self._positions:
                return None
            row = self._index.row_of(position)
            return position + self._offsets[row]
        digest = as_digest(source)
        if digest is None:
            return self._others.get(source)
        number = self._index.number_of(digest)
        if number is None:
            return None
        return number + self._shifts[bisect_right(self._breaks, number) - 1]

    def __len__(self) -> int:
        return self._count


class _Index:
    """Sorted copies of positions and digests, for look-ups."""

    def __init__(self, firsts: array[int], digests: array[int]) -> None:
        self._firsts, self._rows = sorted_numbers(firsts)
        self._digests, self._numbers = sorted_numbers(digests)

    def row_of(self, position: int) -> int:
        return self._rows[bisect_right(self._firsts, position) - 1]

    def number_of(self, digest: int) -> int | None:
        """Return the number of the first digest like this."""
        index = bisect_left(self._digests, digest)
        if index == len(self._digests) or self._digests[index] != digest:
            return None
        return self._numbers[index]


def sorted_numbers(values: array[int]) -> tuple[array[int], array[int]]:
    """Return values in order, and where each of them was; of equal ones, the first comes first."""
    if len(values) <= _FEW:
        numbers = sorted(range(len(values)), key=values.__getitem__)
        return array(values.typecode, (values[each] for each in numbers)), array("q", numbers)
    import numpy as np

    plain = np.frombuffer(values, np.dtype(values.typecode))
    found = np.argsort(plain, kind="stable")
    return array(values.typecode, plain[found].tobytes()), array("q", found.astype(np.int64).tobytes())


def child_numbers(task_id: str) -> tuple[int, ...]:
    """Return the numbers of children in an id, below its source.

    >>> child_numbers("3f2a/0/2"), child_numbers("3f2a")
    ((0, 2), ())
    """
    return tuple(int(each) for each in task_id.split("/")[1:] if each.isdecimal())


def in_order(
    outputs: Sequence[Task[Any]], place: Callable[[str], int], *, by_children: bool = True
) -> Sequence[Task[Any]]:
    """Return outputs by the place of their source, then by the child numbers in their ids.

    Args:
        outputs: The tasks; equal ones stay in the order they have.
        place: Returns the place of a source id.
        by_children: Whether child numbers count; if not, outputs of a source stay in the order they have.
    """
    if len(outputs) <= _FEW or not isinstance(outputs, Outputs):

        def key(task: Task[Any]) -> tuple[Any, ...]:
            return place(source_id(task.task_id)), child_numbers(task.task_id) if by_children else ()

        return sorted(outputs, key=key)
    return outputs.reordered(_permutation(outputs, place, by_children=by_children))


def _permutation(outputs: Outputs, place: Callable[[str], int], *, by_children: bool) -> array[int] | None:
    """Return which output comes first, which second and so on, or None where they are in order.

    Takes some 40 bytes a task until it returns, and 8 more for each level of children.
    """
    import numpy as np

    places = array("q")
    levels: list[array[int]] = []  # child numbers; -1 where an id ends before, so that it sorts before its children
    for index, task_id in enumerate(outputs.ids()):
        source, _, below = task_id.partition("/")
        places.append(place(source))
        numbers = child_numbers(task_id) if by_children and below else ()
        while len(levels) < len(numbers):
            levels.append(array("q", [-1]) * index)
        for level, number in zip(levels, chain(numbers, repeat(-1)), strict=False):
            level.append(number)
    found = np.lexsort([np.frombuffer(each, np.int64) for each in (*reversed(levels), places)])
    if bool((found == np.arange(len(found))).all()):
        return None
    return array("q", found.astype(np.int64).tobytes())
