"""Compressed files by extension: which compression a name stands for, and streams that compress."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from typing import Any, BinaryIO, Literal, cast

__all__ = ["COMPRESSED_EXTENSIONS", "Compression", "compression_of", "open_compressed", "zstd_module"]

Compression = Literal["gzip", "zstd", "bz2", "xz"]

COMPRESSED_EXTENSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}

_GZIP_LEVEL = 6  # the library's default of 9 is several times slower for one or two per cent
_XZ_PRESET = 3
_ZSTD_LEVEL = 1  # Arrow's choice, too: text shrinks to a third and disks are the bottleneck


def compression_of(path: str) -> Compression | None:
    """Return the compression that a file's extension stands for.

    >>> compression_of("a.jsonl.zst"), compression_of("a.jsonl")
    ('zstd', None)
    """
    name = (path.partition("::")[0] if "://" in path else path).lower()
    return next((kind for extension, kind in COMPRESSED_EXTENSIONS.items() if name.endswith(extension)), None)


def open_compressed(file: BinaryIO, path: str) -> BinaryIO:
    """Return a stream that compresses into ``file`` as the extension of ``path`` says; ``file`` stays open.

    The same input gives the same bytes: no time stamp or name is stored. Every kind carries a checksum.

    >>> import gzip, io
    >>> file = io.BytesIO()
    >>> with open_compressed(file, "a.txt.gz") as stream:
    ...     size = stream.write(b"text")
    >>> gzip.decompress(file.getvalue())
    b'text'
    """
    kind = compression_of(path)
    if kind == "gzip":
        return cast("BinaryIO", gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0))
    if kind == "bz2":
        return cast("BinaryIO", bz2.BZ2File(file, "wb"))
    if kind == "xz":
        return cast("BinaryIO", lzma.LZMAFile(file, "wb", preset=_XZ_PRESET, check=lzma.CHECK_CRC64))
    if kind == "zstd":
        zstd = zstd_module()
        parameters = zstd.CompressionParameter
        options = {parameters.compression_level: _ZSTD_LEVEL, parameters.checksum_flag: 1}
        return cast("BinaryIO", zstd.ZstdFile(file, "wb", options=options))
    return cast("BinaryIO", _KeepOpen(file))


def zstd_module() -> Any:
    """Return the standard library's zstd, which before Python 3.14 is a package of its own.

    >>> zstd_module().decompress(zstd_module().compress(b"text"))
    b'text'
    """
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _KeepOpen(io.RawIOBase):
    """Forward writes; closing leaves the file below open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)
