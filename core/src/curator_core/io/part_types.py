"""Check, when a run is over, that the files it has written can be read as one table."""

from __future__ import annotations

import logging
import posixpath
from typing import TYPE_CHECKING

from curator_core.errors import CuratorError
from curator_core.files.limits import Limits
from curator_core.files.paths import list_files
from curator_core.io.column_types import look_at, sample_files
from curator_core.io.formats import format_named

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["warn_of_differences"]

_log = logging.getLogger(__name__)


def warn_of_differences(folder: str, format_name: str) -> None:
    """Warn of columns that have several types in the files of a folder.

    Readers give a column one type in the whole run, but a stage may make one that is null where a batch has no value
    for it, and a number elsewhere. Of very many files, some are looked at.

    Args:
        folder: Where the files are.
        format_name: Their format.
    """
    try:
        files = sample_files(list_files(folder, extensions=format_named(format_name).extensions))
    except (CuratorError, OSError):  # nothing was written
        return
    seen: dict[str, dict[pa.DataType, str]] = {}
    for file, columns in zip(files, look_at(files, format_name, Limits()), strict=True):
        for name, kind in (columns or {}).items():
            seen.setdefault(name, {}).setdefault(kind, posixpath.basename(file.path))
    for name, kinds in seen.items():
        if len(kinds) > 1:
            where = ", ".join(f"{kind} in {file}" for kind, file in kinds.items())
            _log.warning("files in %s cannot be read as one table: column %r is %s", folder, name, where)
