"""The keys of perceptual deduplication: pieces of hashes, of which two near hashes share at least one."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.sdk import StageError
from curator_dedup.matching.keyed_documents import WriteKeys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_core.sdk import TableBatch

__all__ = ["HASH_BITS", "WritePieces", "perceptual_hashes"]

HASH_BITS = 64
_HEX_DIGITS = 16


@dataclass
class WritePieces(WriteKeys):
    """Cut each 64-bit hash into one piece more than bits may differ: two near hashes agree in at least one piece.

    Args:
        path: Folder of the cache.
        content_column: Column with hashes: numbers, or 16 hexadecimal digits.
        id_column: Column with ids; file and place unless given.
        score_column: Column with numbers by which the row to keep is chosen.
        partitions: Into how many partitions keys are sorted.
        max_distance: Bits in which hashes of duplicates differ, at most.
    """

    max_distance: int = field(default=4, kw_only=True)

    name = "dedup.write_pieces"

    def keys_of(self, batch: TableBatch) -> pa.Table:
        """Return a key for every piece, with the whole hash as the mark."""
        hashes, is_there = perceptual_hashes(batch, self.content_column)
        chosen = np.flatnonzero(is_there)
        pieces = self.max_distance + 1
        edges = [number * HASH_BITS // pieces for number in range(pieces + 1)]
        keys = []
        for number, (low, high) in enumerate(pairwise(edges)):
            mask = np.uint64((1 << (high - low)) - 1)
            keys.append(_mixed(hashes[chosen] >> np.uint64(low) & mask, number))
        columns: dict[str, Any] = {
            "key": np.concatenate(keys),
            "mark": np.tile(hashes[chosen], pieces),
            "document": np.tile(chosen.astype(np.uint32), pieces),
        }
        return pa.table({name: pa.array(values) for name, values in columns.items()})

    def sizes_of(self, batch: TableBatch) -> Any:
        """Return zeros: a hash is as long as any other."""
        return pa.array(np.zeros(batch.num_rows, np.int64))

    def metadata(self) -> dict[bytes, bytes]:
        """Return the settings that the pieces depend on."""
        return {b"curator.perceptual": str(self.max_distance).encode()}


def perceptual_hashes(batch: TableBatch, hash_column: str) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return the hashes in a column as numbers, and which rows have one.

    Raises:
        StageError: The column holds something else.
    """
    batch.check_column(hash_column)
    column = batch.data.column(hash_column)
    kind = column.type
    is_there = np.asarray(column.is_valid().to_numpy())
    hashes = np.zeros(len(column), np.uint64)
    if pa.types.is_integer(kind):
        hashes[is_there] = (
            column.drop_null().to_numpy().astype(np.int64 if "u" not in str(kind) else np.uint64).view(np.uint64)
        )
        return hashes, is_there
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        values = column.drop_null().to_pylist()
        wrong = next((each for each in values if len(each) != _HEX_DIGITS), None)
        try:
            if wrong is None:
                hashes[is_there] = [int(each, 16) for each in values]
                return hashes, is_there
        except ValueError:
            pass
    raise StageError(
        f"column {hash_column!r} holds {kind}; 64-bit hashes are numbers, or 16 hexadecimal digits each",
        fix="name the column with the hashes, as image.phash makes them",
    )


def _mixed(values: NDArray[np.uint64], number: int) -> NDArray[np.uint64]:
    """Spread values over all 64 bits, differently for every piece."""
    with np.errstate(over="ignore"):
        mixed = (values + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
        result: NDArray[np.uint64] = mixed * np.uint64(0xC4CEB9FE1A85EC53)
        return result
