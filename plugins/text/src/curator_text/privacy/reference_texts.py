"""Read the benchmark sets that documents are compared with."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TypeAlias

import polars as pl

from curator_core.sdk import (
    ROW_COLUMN,
    SOURCE_COLUMN,
    ConfigError,
    FileSlice,
    UnknownNameError,
    list_files,
    open_filesystem,
)
from curator_table import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from curator_core.sdk import FileEntry

__all__ = ["References", "list_references", "read_references"]

References: TypeAlias = "str | list[str] | dict[str, str | list[str]]"
_TEXT_EXTENSIONS = (".txt",)
_EXTENSIONS = (*(each for kind in FORMATS.values() for each in kind.extensions), *_TEXT_EXTENSIONS)


def list_references(references: References) -> dict[str, list[FileEntry]]:
    """Return the files of each benchmark; one without a name of its own is called as its file is.

    Raises:
        ConfigError: A path matches nothing, or a file has an unknown extension.
    """
    found: dict[str, list[FileEntry]] = {}
    named = references if isinstance(references, dict) else {"": references}
    for name, paths in named.items():
        for entry in list_files(paths, extensions=_EXTENSIONS):
            if not entry.path.endswith(_EXTENSIONS):
                raise ConfigError(
                    f"the benchmark file {entry.path!r} has an extension that is not known",
                    fix=f"name it by what it is: {', '.join(_EXTENSIONS)}",
                )
            stem = posixpath.basename(entry.path.replace("\\", "/")).partition(".")[0]
            found.setdefault(name or stem, []).append(entry)
    return found


def read_references(entries: list[FileEntry], columns: list[str] | None) -> Iterator[pl.Series]:
    """Yield the texts of benchmark files: the values of text columns, or the lines of plain text.

    Args:
        entries: The files.
        columns: Columns to read; all that hold text or lists of text, where None.
    """
    for entry in entries:
        if entry.path.endswith(_TEXT_EXTENSIONS):
            filesystem, inner = open_filesystem(entry.path)
            yield pl.Series(filesystem.cat_file(inner).decode("utf-8", "replace").splitlines(), dtype=pl.String)
            continue
        kind = next(each for each in FORMATS.values() if entry.path.endswith(each.extensions))
        for table in kind.read(FileSlice(entry.path, file_bytes=entry.size_bytes, version=entry.version)):
            own = [name for name in table.column_names if name not in (SOURCE_COLUMN, ROW_COLUMN)]
            for name in columns or own:
                if name not in own:
                    raise UnknownNameError(f"column of {entry.path}:", name, own, fix=f"the file has: {', '.join(own)}")
                yield from _texts(
                    table.column(name), is_asked_for=columns is not None, where=f"{name!r} of {entry.path}"
                )


def _texts(column: pa.ChunkedArray, *, is_asked_for: bool, where: str) -> Iterator[pl.Series]:
    values = pl.Series(column)
    while isinstance(values.dtype, pl.List):
        values = values.explode()
    if values.dtype in (pl.String, pl.Categorical, pl.Enum):
        yield values.cast(pl.String).drop_nulls()
    elif is_asked_for and values.dtype != pl.Null:
        raise ConfigError(f"column {where} holds {column.type}, but text was expected", fix="name columns of text")
