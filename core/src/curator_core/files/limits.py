"""What a reader accepts before it calls a file hostile or broken, and how much it reads at a time."""

from __future__ import annotations

from dataclasses import dataclass

from curator_core.values.errors import ConfigError

__all__ = ["DEFAULT_BLOCK_BYTES", "Limits"]

DEFAULT_BLOCK_BYTES = 32 * 2**20
"""Bytes of input per task and per table.

Large enough that opening, dispatch and parsing overheads vanish (tens of milliseconds of work), small enough that
several tables fit into a worker beside a model and that a retry repeats little.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps on what one input file may make a reader do.

    >>> Limits(max_record_bytes=1_000_000).max_record_bytes
    1000000

    Args:
        max_record_bytes: Longest record; a longer one is reported and skipped without being held in memory.
        max_expansion: Decompressed bytes allowed per compressed byte, and decoded bytes per byte of a file of columns.
            Real text compresses 3 to 20 times and gzip cannot exceed 1032, so the default only stops bombs.
        expansion_floor_bytes: Decompressed bytes always allowed, because small files may compress extremely well.
        max_columns: Most columns of a table, nested fields included. Every record has a place for every column, so a
            new key per record would take memory that grows with the square of the file.
        max_file_bytes: Largest file read whole as one row.
        verify: Whether a compressed file is checked to its end before its first row comes out. Otherwise rows of a
            corrupt file come out as far as they can be decoded, wrong ones among them.
    """

    max_record_bytes: int = 64 * 2**20
    max_expansion: int = 1000
    expansion_floor_bytes: int = 64 * 2**20
    max_columns: int = 1000
    max_file_bytes: int = 2**30
    verify: bool = True

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if name != "verify" and getattr(self, name) <= 0:
                raise ConfigError(f"Limits: {name} must be positive, got {getattr(self, name)!r}")

    def allowed_bytes(self, file_bytes: int) -> int:
        """Return how many bytes a file of that size may expand to."""
        return max(self.expansion_floor_bytes, self.max_expansion * file_bytes)
