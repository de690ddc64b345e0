"""The base of filters that judge an image by its header alone."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curator_core.sdk import Filter
from curator_image.headers import ignore_pillow_warnings, read_headers

if TYPE_CHECKING:
    import polars as pl

    from curator_core.sdk import Columns, TableBatch, Verdict, WorkerInfo

__all__ = ["HeaderFilter"]


@dataclass
class HeaderFilter(Filter):
    """Judge images by width and height; an unreadable image is quarantined, and no pixel is decoded.

    Args:
        bytes_column: Column with the encoded images.
    """

    bytes_column: str = field(default="bytes", kw_only=True)

    @abstractmethod
    def judge_headers(self, width: pl.Series, height: pl.Series) -> Verdict:
        """Judge images by their size in pixels; null where a row has no image."""

    def inputs(self) -> Columns:
        return [self.bytes_column]

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002
        ignore_pillow_warnings()

    def process(self, task: TableBatch) -> TableBatch | None:
        # Unreadable rows leave before the judgement, because they are quarantined and not dropped.
        batch, headers = read_headers(task, self.bytes_column)
        if task.num_rows and not batch.num_rows:
            return None
        return self.apply(batch, self._verdict(headers))

    def judge(self, batch: TableBatch) -> Verdict:
        """Judge images that can all be read."""
        return self._verdict(read_headers(batch, self.bytes_column)[1])

    def _verdict(self, headers: pl.DataFrame) -> Verdict:
        import polars as pl

        return self.judge_headers(headers["width"].cast(pl.Int64), headers["height"].cast(pl.Int64))
