"""Read files without trusting them: bounded expansion, no byte that fails its checksum, none missing at the end."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, BinaryIO

from curator_core.files.compression import compression_of
from curator_core.files.decoders import MemberDecoder, decode_errors
from curator_core.files.limits import Limits
from curator_core.values.errors import DataError

if TYPE_CHECKING:
    from curator_core.authoring.tasks import FileSlice

__all__ = ["Decompressor", "ListedSize", "StreamError"]

_CHUNK_BYTES = 2**20
_HELD_BYTES = 32 * 2**20


class StreamError(DataError):
    """A file cannot be read any further; what comes before is sound.

    >>> import io
    >>> try:
    ...     Decompressor(io.BytesIO(b"no gzip"), "a.txt.gz").read(1)
    ... except StreamError as error:
    ...     print(error.path)
    a.txt.gz

    Args:
        message: What is wrong with it.
        error_type: ``TornFile`` (it ends too early), ``CorruptFile`` or ``DecompressionBomb``.
        source: The file.
    """

    def __init__(self, message: str, *, error_type: str, source: str) -> None:
        super().__init__(message, source=source)
        self.reason = message
        self.error_type = error_type
        self.path = source

    def apart(self) -> StreamError:
        """Return the same error without its traceback, for whoever keeps it: the frames hold what was read so far."""
        return StreamError(self.reason, error_type=self.error_type, source=self.path)


class Decompressor:
    r"""A readable stream over a compressed file that gives out every byte that can be trusted, then raises.

    A flipped bit in a compressed file usually decodes, to wrong text, and is found by the checksum at the end. So the
    file is decoded to its end before the first byte is given out; up to 32 MiB of text are kept from that, a longer
    one is decoded a second time. Members that end in a valid checksum come out, nothing of a torn or corrupt one does.

    >>> import gzip, io
    >>> Decompressor(io.BytesIO(gzip.compress(b"two\nlines\n")), "a.txt.gz").read(100)
    b'two\nlines\n'

    Args:
        file: The compressed file, open for reading.
        path: Its path; the extension names the compression.
        limits: Caps on the expansion, and whether to verify. Unverified, everything that can be decoded comes out.
    """

    def __init__(self, file: BinaryIO, path: str, limits: Limits | None = None) -> None:
        kind = compression_of(path)
        assert kind is not None, path
        self.path = path
        self._kind = kind
        self._file = file
        self._limits = limits or Limits()
        self._decoder = MemberDecoder(file, kind)
        self._must_verify = self._limits.verify
        self._held: _Held | None = None
        self._error: StreamError | None = None
        self._left = 0  # bytes to give out before the error

    def read(self, size: int) -> bytes:
        """Return up to ``size`` decompressed bytes; none at the end of the file.

        Raises:
            StreamError: The file is torn or corrupt, or expands beyond the limits.
        """
        if self._must_verify:
            self._verify()
            self._must_verify = False
        if self._error is not None:
            if not self._left:
                raise self._error.apart()
            size = min(size, self._left)
        data = self._decode(size) if self._held is None else self._held.read(size)
        self._left -= len(data)
        return data

    def _verify(self) -> None:
        """Decode the file to its end, to know how much of it can be trusted."""
        self._held = _Held()
        try:
            while data := self._decode(_CHUNK_BYTES):
                if self._held is not None:
                    self._held.add(data)
                    if self._decoder.given > _HELD_BYTES:
                        self._held = None
        except StreamError as error:
            self._error = error.apart()
            self._left = self._decoder.checked
        if self._held is None:
            self._file.seek(0)
            self._decoder = MemberDecoder(self._file, self._kind)

    def _decode(self, size: int) -> bytes:
        try:
            data = self._decoder.read(size)
        except decode_errors() as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the file below failed, not its content
            raise self._damage(error) from error
        allowed = self._limits.allowed_bytes(self._decoder.consumed)
        if self._decoder.given > allowed:
            raise StreamError(
                f"{self._decoder.consumed:,} compressed bytes expand to more than {allowed:,}, "
                f"{self._limits.max_expansion:,} times as many: a decompression bomb? "
                "raise max_expansion if the file is genuine",
                error_type="DecompressionBomb",
                source=self.path,
            )
        return data

    def _damage(self, error: Exception) -> StreamError:
        is_torn = isinstance(error, EOFError)
        what = "ends too early" if is_torn else "is corrupt"
        advice = "fetch the file again, or read with verify: false to take the records before the damage"
        return StreamError(
            f"the {self._kind} data {what}, after {self._decoder.given:,} decompressed bytes ({error}); {advice}",
            error_type="TornFile" if is_torn else "CorruptFile",
            source=self.path,
        )


class _Held:
    """Decoded chunks, given out once."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()

    def add(self, chunk: bytes) -> None:
        self._chunks.append(chunk)

    def read(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0 and self._chunks:
            chunk = self._chunks.popleft()
            parts.append(chunk[:size])
            if len(chunk) > size:
                self._chunks.appendleft(chunk[size:])
            size -= len(parts[-1])
        return b"".join(parts)


class ListedSize:
    """Read a file that must not end before the size it was listed with.

    >>> import io
    >>> from curator_core.authoring.tasks import FileSlice
    >>> ListedSize(io.BytesIO(b"abc"), FileSlice("a.txt", file_bytes=3)).read()
    b'abc'
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
