"""Files that rows name: found beside the file that the row was read from, checked, and opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from curator_core.authoring.tasks import SOURCE_COLUMN, FileSlice
from curator_core.files.filesystems import check_regular, open_slice
from curator_core.files.locations import HOST_SCHEMES, check_location
from curator_core.values.errors import DataError, LocationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.authoring.tasks import TableBatch
    from curator_core.files.locations import Location

__all__ = ["RowFile", "row_files"]


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file as a row names it. It is checked when it is opened, not before.

    >>> RowFile("sounds/a.wav", origin="/corpus/manifest.jsonl").value
    'sounds/a.wav'

    Args:
        value: As it stands in the row.
        origin: File that the row was read from.
        allowed: Folders or URL prefixes that rows may name as well.
    """

    value: str
    origin: str | None = None
    allowed: tuple[str, ...] = ()

    def location(self) -> Location:
        """Return where it is.

        Raises:
            LocationError: The row may not name it.
        """
        return check_location(self.value, origin=self.origin, allowed=self.allowed)

    def open(self) -> BinaryIO:
        """Open it for reading.

        Raises:
            LocationError: The row may not name it.
            DataError: It is not there, may not be read, or is not a regular file.
        """
        location = self.location()
        options = {}
        scheme = location.path.partition("://")[0]
        if scheme in HOST_SCHEMES and not location.is_listed:
            from curator_core.files.addresses import check_address, http_options

            if not location.is_allowed:
                check_address(location.path)
            if scheme in ("http", "https"):
                options = http_options(self.allowed)
        try:
            file: BinaryIO = open_slice(FileSlice(location.path), **options)
        except DataError as error:
            refusal = _redirected(error)
            if refusal is None:
                raise
            raise refusal from None  # the other way round, it would be the cause of its own cause
        return file

    def local_path(self) -> str:
        """Return the path of a local, regular file, for libraries that open files themselves.

        Raises:
            LocationError: The row may not name it, or it is not local.
            DataError: It is not there, or is not a regular file.
        """
        path = self.location().path.removeprefix("file://")
        if "://" in path:
            raise LocationError(f"{path!r} is not a local path")
        try:
            check_regular(path, path)
        except OSError as error:
            raise DataError(f"cannot open the file: {error.strerror or error}", source=path) from error
        return path


def row_files(batch: TableBatch, column: str, allowed: Sequence[str] | None = None) -> list[RowFile | None]:
    """Return the file that each row names; None where it names none.

    >>> from curator_core import TableBatch
    >>> batch = TableBatch(data={"uri": ["a.wav", None], "_source": ["/corpus/manifest.jsonl"] * 2})
    >>> [file and file.origin for file in row_files(batch, "uri")]
    ['/corpus/manifest.jsonl', None]

    Args:
        batch: The rows; ``_source`` says which file each was read from.
        column: Column with paths or URLs.
        allowed: The stage's ``allowed_locations``.

    Raises:
        StageError: There is no such column, or it does not hold text.
    """
    origins: list[str | None] = [None] * batch.num_rows
    if SOURCE_COLUMN in batch.columns:
        origins = batch.text(SOURCE_COLUMN).to_list()
    prefixes = tuple(allowed or ())
    return [
        None if value is None else RowFile(value, origin, prefixes)
        for value, origin in zip(batch.text(column), origins, strict=True)
    ]


def _redirected(error: BaseException) -> LocationError | None:
    """Return the refusal of a redirect, which fsspec reports as a file that is not there."""
    cause = error.__cause__
    while cause is not None and not isinstance(cause, LocationError):
        cause = cause.__cause__
    return cause
