"""Sets of source ids in a few bytes each: runs have millions of them, and the driver keeps them all."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["DigestSet", "SourceIds", "as_digest", "as_position", "digest_of", "source_id"]

_DIGEST_CHARS = 16
_PAGE_BITS = 15
_RECENT = 1 << 12
"""Digests that are kept in a Python set, at some 80 bytes each, before they are sorted into an array."""


def source_id(task_id: str) -> str:
    """Return the id of the source task that a task descends from.

    >>> source_id("3f2a/0/2")
    '3f2a'
    """
    return task_id.partition("/")[0]


def as_position(source: str) -> int | None:
    """Return the number of a source task whose id is its position, else None.

    >>> as_position("17"), as_position("017"), as_position("3f2a")
    (17, None, None)
    """
    if len(source) < _DIGEST_CHARS and source.isdecimal() and source.isascii():
        return int(source) if source[0] != "0" or source == "0" else None
    return None


def as_digest(source: str) -> int | None:
    """Return the 64 bits of an id that is a digest of files, else None.

    >>> as_digest("00000000000000ff"), as_digest("ff")
    (255, None)
    """
    if len(source) != _DIGEST_CHARS:
        return None
    try:
        number = int(source, 16)
    except ValueError:
        return None
    return number if number >= 0 and f"{number:016x}" == source else None


def digest_of(text: str) -> int:
    """Return 64 bits that stand for a text in a :class:`DigestSet`."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class DigestSet:
    """A set of 64-bit numbers, 8 bytes each: sorted arrays, the larger ones first, and a small set of the newest."""

    def __init__(self) -> None:
        self._recent: set[int] = set()
        self._sorted: list[array[int]] = []

    def add(self, number: int) -> bool:
        """Add a number; return whether it is new."""
        if number in self:
            return False
        self._recent.add(number)
        if len(self._recent) >= _RECENT:
            self._sort_recent()
        return True

    def __contains__(self, number: int) -> bool:
        if number in self._recent:
            return True
        for numbers in self._sorted:
            index = bisect_left(numbers, number)
            if index < len(numbers) and numbers[index] == number:
                return True
        return False

    def __iter__(self) -> Iterator[int]:
        return chain(self._recent, *self._sorted)

    def __len__(self) -> int:
        return len(self._recent) + sum(map(len, self._sorted))

    def _sort_recent(self) -> None:
        """Make an array of the newest numbers, joined with smaller arrays, so that there are only a few of them."""
        import numpy as np

        parts = [np.fromiter(self._recent, np.uint64, len(self._recent))]
        size = len(self._recent)
        while self._sorted and len(self._sorted[-1]) <= size:
            parts.append(np.frombuffer(self._sorted.pop(), np.uint64))
            size += len(parts[-1])
        joined = np.concatenate(parts)
        joined.sort()
        self._recent = set()
        self._sorted.append(array("Q", joined.tobytes()))


class SourceIds(AbstractSet[str]):
    """A set of source ids that only grows: a bit for a position, 8 bytes for a digest, a string for anything else.

    >>> ids = SourceIds(["0", "1", "3f2a9c0d11e4b7a6"])
    >>> "1" in ids, "2" in ids, len(ids)
    (True, False, 3)
    """

    def __init__(self, sources: Iterable[str] = ()) -> None:
        self._pages: dict[int, bytearray] = {}
        self._positions = 0
        self._digests = DigestSet()
        self._others: set[str] = set()
        for source in sources:
            self.add(source)

    def add(self, source: str) -> bool:
        """Add an id; return whether it is new."""
        position = as_position(source)
        if position is not None:
            return self._add_position(position)
        digest = as_digest(source)
        if digest is not None:
            return self._digests.add(digest)
        is_new = source not in self._others
        self._others.add(source)
        return is_new

    def add_positions(self, start: int, stop: int) -> bool:
        """Add neighbouring positions, if none of them is there; return whether they were added."""
        pages: dict[int, int] = {}
        for number in range(start >> _PAGE_BITS, ((stop - 1) >> _PAGE_BITS) + 1):
            first = number << _PAGE_BITS
            low, high = max(start - first, 0), min(stop - first, 1 << _PAGE_BITS)
            mask = ((1 << (high - low)) - 1) << low
            bits = int.from_bytes(self._pages.get(number, b""), "little")
            if bits & mask:
                return False
            pages[number] = bits | mask
        for number, bits in pages.items():
            self._pages[number] = bytearray(bits.to_bytes(1 << (_PAGE_BITS - 3), "little"))
        self._positions += stop - start
        return True

    def __contains__(self, source: object) -> bool:
        if not isinstance(source, str):
            return False
        position = as_position(source)
        if position is not None:
            page = self._pages.get(position >> _PAGE_BITS)
            return page is not None and bool(page[(position >> 3) & 0xFFF] >> (position & 7) & 1)
        digest = as_digest(source)
        return source in self._others if digest is None else digest in self._digests

    def __iter__(self) -> Iterator[str]:
        for number, page in sorted(self._pages.items()):
            first = number << _PAGE_BITS
            for index, bits in enumerate(page):
                for bit in range(8) if bits else ():
                    if bits >> bit & 1:
                        yield str(first + (index << 3) + bit)
        for digest in self._digests:
            yield f"{digest:016x}"
        yield from self._others

    def __len__(self) -> int:
        return self._positions + len(self._digests) + len(self._others)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} ids)"

    def _add_position(self, position: int) -> bool:
        page = self._pages.get(position >> _PAGE_BITS)
        if page is None:
            page = self._pages[position >> _PAGE_BITS] = bytearray(1 << (_PAGE_BITS - 3))
        index, bit = (position >> 3) & 0xFFF, 1 << (position & 7)
        if page[index] & bit:
            return False
        page[index] |= bit
        self._positions += 1
        return True
