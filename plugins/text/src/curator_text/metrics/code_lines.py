"""Lines and letters of source files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from curator_text.metrics.group import MetricGroup

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from curator_text.metrics.text_bytes import TextBytes

__all__ = ["CODE_LINES"]

_METRICS = ("chars", "lines", "longest_line", "letters", "ascii_content_chars")
_CONTENT = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\n?!,."
"""What NeMo Curator counts as alphanumeric (``regex_alphanum``)."""


def _measure(texts: TextBytes) -> dict[str, NDArray[Any]]:
    from curator_text.kernels.code_lines import code_line_counts
    from curator_text.kernels.surface_tables import surface_tables

    is_content = np.isin(np.arange(256), list(_CONTENT))
    counts = np.zeros((len(_METRICS), texts.num_documents), dtype=np.int64)
    code_line_counts(texts.data, texts.offsets, texts.rows_to_measure, surface_tables().kinds, is_content, counts)
    return dict(zip(_METRICS, counts, strict=True))


CODE_LINES = MetricGroup("code_lines", _measure, compiled=True)
"""Characters, lines (one more than newlines), those of the longest, letters (``str.isalpha``) and ASCII content."""
