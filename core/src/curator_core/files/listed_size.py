"""Notice that a file became shorter while it was being read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.files.decompression import StreamError

if TYPE_CHECKING:
    from curator_core.authoring.tasks import FileSlice

__all__ = ["ListedSize"]


class ListedSize:
    """Read a file that must not end before the size it was listed with.

    >>> import io
    >>> from curator_core.authoring.tasks import FileSlice
    >>> ListedSize(io.BytesIO(b"abc"), FileSlice("a.txt", file_bytes=3)).read()
    b'abc'

    Args:
        file: The file.
        piece: What it was listed as.
        position: Where the file is read from.
    """

    def __init__(self, file: Any, piece: FileSlice, position: int = 0) -> None:
        self._file = file
        self._piece = piece
        self._position = position

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` bytes; none at the end.

        Raises:
            StreamError: The file has become shorter.
        """
        data: bytes = self._file.read(size)
        self._position += len(data)
        listed = self._piece.file_bytes
        if not data and size and listed is not None and self._position < listed:
            raise StreamError(
                f"the file ends at byte {self._position:,} and had {listed:,} bytes when it was listed; "
                "do not change input files during a run",
                error_type="TornFile",
                source=self._piece.path,
            )
        return data
