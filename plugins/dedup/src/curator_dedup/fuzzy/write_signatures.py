"""The keys of fuzzy deduplication: the bands of MinHash signatures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from curator_core.column_bytes import column_bytes
from curator_core.errors import ConfigError
from curator_dedup.matching.keyed_documents import WriteKeys, text_column
from curator_dedup.minhash.scheme import MinhashScheme
from curator_dedup.minhash.signing import sign

if TYPE_CHECKING:
    from curator_core.tasks import TableBatch

__all__ = ["WriteBands"]

BANDS_KEY = b"curator.bands"


@dataclass
class WriteBands(WriteKeys):
    """Write the band keys of documents, and one key for the whole signature.

    Documents without any shingle, null or empty, get no keys: they are nobody's duplicates.

    Args:
        path: Folder of the cache.
        content_field: Column with the text.
        id_field: Column with ids; file and position unless given.
        score_field: Column with numbers by which the document to keep is chosen.
        partitions: Into how many partitions keys are sorted.
        scheme: How signatures are made.
        bands: Into how many bands they are cut.
        device: A torch device to make them on; the CPU, without torch, unless given.
    """

    scheme: MinhashScheme = field(default=MinhashScheme(), kw_only=True)
    bands: int = field(default=20, kw_only=True)
    device: str | None = field(default=None, kw_only=True)

    name = "dedup.write_bands"

    def __post_init__(self) -> None:
        if self.bands < 1 or self.scheme.num_hashes % self.bands:
            raise ConfigError(
                f"{self.scheme.num_hashes} hashes cannot be cut into {self.bands} bands of one size",
                fix="num_hashes = bands x hashes per band",
            )

    def keys_of(self, batch: TableBatch) -> pa.Table:
        """Return the keys of all bands of all documents."""
        from curator_dedup.kernels.bands import band_keys

        text = column_bytes(text_column(batch, self.content_field))
        signatures, shingles = sign(text, self.scheme, device=self.device)
        chosen = np.flatnonzero(shingles if text.is_null is None else (shingles > 0) & ~text.is_null)
        keys = np.empty((len(chosen), self.bands + 1), np.uint64)
        marks = np.empty(len(chosen), np.uint32)
        band_keys(signatures, chosen, self.bands, keys, marks)
        # Under the key of the whole signature, all documents are alike: one mark.
        all_marks = np.repeat(marks[:, None], self.bands + 1, axis=1)
        all_marks[:, self.bands] = 0
        documents = np.repeat(chosen.astype(np.uint32)[:, None], self.bands + 1, axis=1)
        columns: dict[str, Any] = {"key": keys, "mark": all_marks, "document": documents}
        return pa.table({name: pa.array(values.reshape(-1)) for name, values in columns.items()})

    def metadata(self) -> dict[bytes, bytes]:
        """Return the scheme and the number of bands."""
        return {**self.scheme.to_metadata(), BANDS_KEY: str(self.bands).encode()}
