"""Stages that parse markup in a process beside the worker."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from curator_core.sdk import BadRecord, ConfigError, ProcessingStage, StageError, TableBatch, report
from curator_text.extraction.page_extractors import check_packages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from curator_core.sdk import WorkerInfo
    from curator_text.extraction.guarded_extractor import Blame, GuardedExtractor
    from curator_text.extraction.page_extractors import ExtractionSettings

__all__ = ["MarkupStage", "html_values", "without_rows"]

MAX_HTML_BYTES = 32 * 2**20
"""Larger than any page that people read; parsed, it takes some twenty times as much memory."""
MAX_MEMORY_BYTES = 4 * 2**30
_PAYLOAD_BYTES = 256


@dataclass
class MarkupStage(ProcessingStage[TableBatch, TableBatch]):
    """Base of stages that turn markup into text, and survive any markup.

    Args:
        page_timeout_s: Maximum number of CPU seconds for one page.
        max_html_bytes: A larger page is quarantined.
    """

    page_timeout_s: float = field(default=10.0, kw_only=True)
    max_html_bytes: int = field(default=MAX_HTML_BYTES, kw_only=True)

    thread_safe: ClassVar[bool] = True
    row_wise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.page_timeout_s <= 0 or self.max_html_bytes <= 0:
            raise ConfigError(
                f"{self.name}: page_timeout_s and max_html_bytes must be positive, got {self.page_timeout_s} and "
                f"{self.max_html_bytes}"
            )

    @abstractmethod
    def settings(self) -> ExtractionSettings:
        """Say how pages become text."""

    def preflight(self) -> Sequence[str] | None:
        """Check that the library is installed."""
        check_packages(self.settings(), self.name)
        return None

    def setup(self, worker: WorkerInfo) -> None:  # noqa: ARG002 - the same in every worker
        """Start a process, which shows whether the library can be loaded."""
        self._extractor().start()

    def teardown(self) -> None:
        """End the processes."""
        extractor = self.__dict__.pop("_guarded", None)
        if extractor is not None:
            extractor.close()

    def extract(self, batch: TableBatch, pages: pa.Array) -> tuple[pa.Array, Mapping[int, Blame]]:
        """Return the text of each page, null for a null or where extraction failed; report the latter.

        Args:
            batch: The rows that the pages belong to.
            pages: One for each row.
        """
        texts, blames = _extract_pages(self._extractor(), pages, max_html_bytes=self.max_html_bytes)
        for row, blame in sorted(blames.items()):
            source, place = batch.row_source(row)
            payload = pages[row].as_py()[:_PAYLOAD_BYTES]
            report().bad_record(BadRecord(blame.message, source, place, blame.error_type, payload))
        return texts, blames

    def _extractor(self) -> GuardedExtractor:
        from curator_text.extraction.guarded_extractor import GuardedExtractor

        # Threads may come here together; if two make one, one of them is dropped before it starts a process.
        extractor: GuardedExtractor = self.__dict__.setdefault(
            "_guarded",
            self.__dict__.get("_guarded")
            or GuardedExtractor(self.settings(), timeout_s=self.page_timeout_s, max_memory_bytes=MAX_MEMORY_BYTES),
        )
        return extractor

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_guarded"}


def html_values(batch: TableBatch, name: str) -> pa.Array:
    """Return a column of pages as one array of text or bytes.

    Raises:
        StageError: It holds something else.
    """
    import pyarrow as pa

    batch.check_column(name)
    column = batch.data.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_null(kind) or pa.types.is_string(kind) or pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    elif pa.types.is_binary(kind) or pa.types.is_binary_view(kind):
        column = column.cast(pa.large_binary())
    elif not (pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)):
        raise StageError(
            f"column {name!r} holds {kind}, but web pages were expected, as text or bytes",
            fix="name the column that holds the pages: html_column: body",
        )
    return column.combine_chunks()


def _extract_pages(
    extractor: GuardedExtractor, pages: pa.Array, *, max_html_bytes: int
) -> tuple[pa.Array, dict[int, Blame]]:
    """Return the text of each page, null for a null, and the failures by page number."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from curator_text.extraction.guarded_extractor import Blame

    sizes = pc.fill_null(pc.binary_length(pages), 0).to_numpy(zero_copy_only=False)
    there = pages.is_valid().to_numpy(zero_copy_only=False)
    huge = sizes > max_html_bytes
    rows = np.flatnonzero(there & ~huge)
    texts, found = extractor.extract(pages.take(pa.array(rows)) if len(rows) < len(pages) else pages)
    blames = {int(rows[index]): blame for index, blame in found.items()}
    message = f"the page is larger than {max_html_bytes:,} bytes; raise max_html_bytes"
    blames |= {int(row): Blame(message, "PageTooLarge") for row in np.flatnonzero(there & huge)}
    places = np.full(len(pages), -1, dtype=np.int64)
    places[rows] = np.arange(len(rows))
    return texts.take(pa.array(places, mask=places < 0)), blames


def without_rows(batch: TableBatch, rows: Mapping[int, Blame]) -> TableBatch | None:
    """Return the other rows; None where none are left."""
    import pyarrow as pa

    if not rows:
        return batch
    kept = batch.data.filter(pa.array([row not in rows for row in range(batch.num_rows)], pa.bool_()))
    return batch.with_data(kept) if kept.num_rows else None
