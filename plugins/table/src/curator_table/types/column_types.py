"""Find the types of columns once, before a run, by a look at a bounded part of the files.

Files are read in pieces, by many workers at a time. Were each to find types on its own, a column that is null in one
piece and a number in another would be written with two types, and the output could not be read as one table.
"""

from __future__ import annotations

import hashlib
import logging
import posixpath
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from curator_core.sdk import ConfigError, CuratorError, FileSlice, Limits, Recording, list_files
from curator_table.formats import format_named
from curator_table.json.kinds import Kinds, choose_columns, disagreements, merge_kinds
from curator_table.types.declared_types import parse_types
from curator_table.types.type_union import TypeConflictError, union_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from curator_core.sdk import FileEntry

__all__ = ["find_types", "join_types", "look_at", "sample_files", "warn_of_differences"]

_log = logging.getLogger(__name__)

_MAX_FILES = 256
_LOOKED_AT_FRACTION = 1 / 64
_MIN_BYTES, _MAX_BYTES = 2 * 2**20, 32 * 2**20
_REMOTE_THREADS = 16
_SHOWN_COLUMNS = 5


def find_types(
    files: Sequence[FileEntry],
    format_name: str,
    *,
    limits: Limits,
    columns: Sequence[str] | None = None,
    declared: Mapping[str, Any] | None = None,
) -> pa.Schema | None:
    """Return the columns of files of one format and their types; None where no file can be read: the run will say why.

    A column of JSON lines has the type of most of its values. Columns of Parquet and Arrow files have the narrowest
    type that holds those of all files; those of CSV files are text.

    Args:
        files: All files. At most 256 of them are opened; of JSON lines, 2 MiB are read, or 1/64 of the opened files
            where that is more, up to 32 MiB.
        format_name: Their format.
        limits: Caps against hostile files.
        columns: Columns that will be read; all, where None. For JSON records, all are found anyway.
        declared: Types that the user gives, by column; the others are found.

    Raises:
        ConfigError: The types of two files have nothing in common, or a declared type is wrong.
    """
    given = parse_types(declared or {}, format_name=format_name)
    chosen = sample_files(files)
    looks = look_at(chosen, format_name, limits)
    if not given and not any(look.fields if isinstance(look, Kinds) else look for look in looks):
        return None
    found: dict[str, pa.DataType] = {}
    counted = Kinds()
    for file, look in zip(chosen, looks, strict=True):
        if isinstance(look, Kinds):
            counted = merge_kinds(counted, look, max_fields=limits.max_columns)
        elif look is not None:
            wanted = {name: kind for name, kind in look.items() if columns is None or name in columns}
            found = _with_file(found, {name: given.get(name, kind) for name, kind in wanted.items()}, file.path)
    found |= choose_columns(counted, max_columns=limits.max_columns)
    _warn(counted, [name for name in counted.fields if name in given or not (columns is None or name in columns)])
    return pa.schema(list((found | given).items()))


def join_types(found: Iterable[pa.Schema | None], where: str) -> pa.Schema | None:
    """Return the columns of several groups of files with one type for each; None where nothing was found in any.

    Args:
        found: The result of :func:`find_types` for each.
        where: Name of all the groups in messages.

    Raises:
        ConfigError: The types of a column do not go together.
    """
    columns: dict[str, pa.DataType] = {}
    for schema in found:
        columns = _with_file(columns, {each.name: each.type for each in schema or ()}, where)
    return pa.schema(list(columns.items())) if columns else None


def sample_files(files: Sequence[FileEntry]) -> list[FileEntry]:
    """Return at most 256 of the files, in their order.

    Which they are depends on the names of the files alone: where one more comes, at most one of these changes.
    """
    if len(files) <= _MAX_FILES:
        return list(files)
    ranks = [hashlib.blake2b(file.path.encode("utf-8", "surrogatepass"), digest_size=8).digest() for file in files]
    last = sorted(ranks)[_MAX_FILES - 1]
    return [file for file, rank in zip(files, ranks, strict=True) if rank <= last]


def look_at(files: Sequence[FileEntry], format_name: str, limits: Limits) -> list[Any]:
    """Return the result of :meth:`Format.look` for each file; None for one that cannot be read."""
    total = sum(file.size_bytes or 0 for file in files)
    looked_at = min(_MAX_BYTES, max(_MIN_BYTES, int(total * _LOOKED_AT_FRACTION)))
    bytes_each = looked_at // max(1, len(files))

    def look(file: FileEntry) -> Any:
        piece = FileSlice(file.path, file_bytes=file.size_bytes, version=file.version)
        try:
            with Recording().active():  # the run itself reports errors in a file
                return format_named(format_name).look(piece, max_bytes=bytes_each, limits=limits)
        except Exception:  # noqa: BLE001 - a damaged file may raise anything, and the run meets the same error
            return None

    if not any("://" in file.path for file in files):
        return [look(file) for file in files]
    with ThreadPoolExecutor(_REMOTE_THREADS) as pool:
        return list(pool.map(look, files))


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


def _with_file(columns: dict[str, pa.DataType], found: Mapping[str, pa.DataType], path: str) -> dict[str, pa.DataType]:
    try:
        return union_columns(columns, found)
    except TypeConflictError as error:
        raise ConfigError(
            f"{path}: {error}",
            fix="leave the column out with columns: […], or give its type with schema: {column: type}: files with "
            "other types are then quarantined",
        ) from error


def _warn(counted: Kinds, decided: Collection[str]) -> None:
    """Say which columns have values that will not come out."""
    mixed = [(path, counts) for path, counts in disagreements(counted) if _column_of(path, counted) not in decided]
    for path, counts in mixed[:_SHOWN_COLUMNS]:
        _log.warning(
            "column %r has values of several kinds where it was looked at (%s): records with others than the first kind"
            " will be quarantined; schema: {%s: json} on the reader keeps them all",
            path,
            ", ".join(f"{kind}: {count:,}" for kind, count in counts.items()),
            _column_of(path, counted),
        )


def _column_of(path: str, counted: Kinds) -> str:
    """Return the column that a path of a disagreement begins with: keys may have dots and brackets themselves."""
    return max((name for name in counted.fields if path.startswith(name)), key=len)
