"""Damage files, reproducibly: the mutant of a file depends on its seed and index and on nothing else."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OPERATIONS", "Mutant", "mutate"]

_INTERESTING_BYTES = (0x00, 0x0A, 0x0D, 0x20, 0x22, 0x2C, 0x5B, 0x5C, 0x7B, 0x7D, 0x7F, 0x80, 0xC0, 0xED, 0xF5, 0xFF)
_INTERESTING_INTEGERS = (0, 1, -1, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, -(2**31))
_BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Mutant:
    """A damaged copy of a file.

    Args:
        data: Its bytes.
        operation: What was done to it.
        kept_head: Bytes at the beginning that are those of the original.
        kept_tail: Bytes at the end that are those of the original.
    """

    data: bytes
    operation: str
    kept_head: int
    kept_tail: int

    @classmethod
    def compare(cls, original: bytes, data: bytes, operation: str) -> Mutant:
        """Describe a mutant by what it shares with the original; head and tail do not overlap in either file."""
        shorter = min(len(original), len(data))
        head = _common_prefix(original, data, shorter)
        tail = _common_prefix(original[::-1], data[::-1], shorter - head)
        return cls(data, operation, head, tail)


def mutate(original: bytes, donor: bytes, *, seed: int, index: int) -> Mutant:
    """Return one of endlessly many mutants of a file.

    Args:
        original: The sound file.
        donor: Another sound file of the same format, for splices.
        seed: Chooses the series.
        index: Number in the series.
    """
    draw = random.Random(f"{seed}/{index}")  # text seeds are hashed with SHA-512: the same on every machine
    name = list(OPERATIONS)[index % len(OPERATIONS)]
    data = OPERATIONS[name](original, donor, draw)
    return Mutant.compare(original, data, name)


def _flip_bits(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 8))):
        changed[_position(data, draw)] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _set_bytes(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        changed[_position(data, draw)] = draw.choice((*_INTERESTING_BYTES, draw.randrange(256)))
    return bytes(changed)


def _truncate(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    return data[: _position(data, draw)]


def _insert(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    at = _position(data, draw)
    return data[:at] + draw.randbytes(draw.choice((1, 2, 16, 300))) + data[at:]


def _delete(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    at = _position(data, draw)
    return data[:at] + data[at + draw.choice((1, 2, 16, 300)) :]


def _swap_blocks(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    size = draw.randint(1, _BLOCK_BYTES)
    first, second = sorted((_position(data, draw), _position(data, draw)))
    second = max(second, first + size)
    one, two = data[first : first + size], data[second : second + size]
    return data[:first] + two + data[first + size : second] + one + data[second + size :]


def _duplicate_block(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    start, at = _position(data, draw), _position(data, draw)
    return data[:at] + data[start : start + draw.randint(1, _BLOCK_BYTES)] + data[at:]


def _zero_run(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    at = _position(data, draw)
    run = min(draw.choice((4, 64, 512, 4096)), len(data) - at)  # what a disk that lost a sector returns
    return data[:at] + bytes(run) + data[at + run :]


def _splice(data: bytes, donor: bytes, draw: random.Random) -> bytes:
    return data[: _position(data, draw)] + donor[_position(donor, draw) :]


def _edit_length(data: bytes, _donor: bytes, draw: random.Random) -> bytes:
    width = draw.choice((2, 4, 8))
    at = min(_position(data, draw), max(0, len(data) - width))
    old = int.from_bytes(data[at : at + width], "little")
    new = draw.choice((*_INTERESTING_INTEGERS, old + 1, old - 1, old * 2, old // 2))
    return data[:at] + (new % 2 ** (8 * width)).to_bytes(width, "little") + data[at + width :]


OPERATIONS: dict[str, Callable[[bytes, bytes, random.Random], bytes]] = {
    "flip bits": _flip_bits,
    "set bytes": _set_bytes,
    "truncate": _truncate,
    "insert": _insert,
    "delete": _delete,
    "swap blocks": _swap_blocks,
    "duplicate block": _duplicate_block,
    "zero run": _zero_run,
    "splice": _splice,
    "edit length": _edit_length,
}
"""What may happen to a file; each takes the file, another sound one, and a source of chance."""


def _position(data: bytes, draw: random.Random) -> int:
    """Draw a position, one time in three near an end: headers and footers are small and matter most."""
    last = max(0, len(data) - 1)
    if draw.randrange(3):
        return draw.randint(0, last)
    near = min(last, draw.choice((16, 256, 2048)))
    return draw.randint(0, near) if draw.randrange(2) else draw.randint(last - near, last)


def _common_prefix(one: bytes, other: bytes, limit: int) -> int:
    low, high = 0, limit  # the longest equal prefix is found by halving: comparing slices is fast, bytes are not
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
