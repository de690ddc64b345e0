"""The keys of fuzzy deduplication: the bands of MinHash signatures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from curator_core.sdk import ConfigError, column_bytes
from curator_dedup.fuzzy.band_records import band_records
from curator_dedup.matching.keyed_documents import WriteKeys, text_values
from curator_dedup.minhash.scheme import MinhashScheme

if TYPE_CHECKING:
    from curator_core.sdk import NodeInfo, TableBatch

__all__ = ["WriteBands"]

BANDS_KEY = b"curator.bands"


@dataclass
class WriteBands(WriteKeys):
    """Write the band keys of documents, and one key for the whole signature.

    Documents without any shingle, null or empty, get no keys: they are never duplicates.

    Args:
        path: Folder of the cache.
        content_column: Column with the text.
        id_column: Column with ids; file and position unless given.
        score_column: Column with numbers by which the document to keep is chosen.
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

    def setup_on_node(self, node: NodeInfo) -> None:
        """Compile the kernels, unless somebody has."""
        from curator_dedup.kernels.compiling import compile_once

        super().setup_on_node(node)
        if self.device is None:
            sample = column_bytes(pa.array(["a text"]))
            compile_once(
                f"bands of {self.scheme.bits} bits by {self.scheme.method}",
                lambda: band_records(sample, self.scheme, self.bands),
            )

    def keys_of(self, batch: TableBatch) -> pa.Table:
        """Return the keys of all bands of all documents."""
        text = column_bytes(text_values(batch, self.content_column))
        records = band_records(text, self.scheme, self.bands, device=self.device)
        return pa.table([pa.array(each) for each in records], names=["key", "mark", "document"])

    def metadata(self) -> dict[bytes, bytes]:
        """Return the scheme and the number of bands."""
        return {**self.scheme.to_metadata(), BANDS_KEY: str(self.bands).encode()}
