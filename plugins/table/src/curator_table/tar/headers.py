"""The 512-byte headers of tar archives: read any of the common dialects, write one."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from curator_core.sdk import DataError

__all__ = ["BLOCK_BYTES", "TarHeader", "end_of_archive", "member_header", "padded", "parse_header", "parse_pax"]

BLOCK_BYTES = 512
"""Everything in a tar archive is a multiple of this."""

_ZEROS = bytes(BLOCK_BYTES)
_FIELDS = struct.Struct("100s24x12s12x8sc100x6s82x155s12x")
"""Name, size, checksum, type flag, magic and prefix."""
_BLANK_CHECKSUM = b" " * 8
_MAX_OCTAL = 8**11 - 1
_NAME_BYTES = 100
_MODE, _OWNER, _TIME = b"0000644\0", b"0000000\0", b"00000000000\0"
_USTAR = b"ustar\x0000"


class TarHeader(NamedTuple):  # made in a third of the time of a frozen dataclass, once a member
    """The fields of a header."""

    name: bytes
    """Path of the member."""
    size_bytes: int
    """Size of its content."""
    kind: bytes
    """Type flag: ``0`` a file, ``5`` a folder, ``x`` attributes of the next member, ``L`` its long name, …"""


def padded(size_bytes: int) -> int:
    """Return the room that content takes in an archive.

    >>> padded(0), padded(1), padded(512)
    (0, 512, 512)
    """
    return -(-size_bytes // BLOCK_BYTES) * BLOCK_BYTES


def parse_header(block: bytes | memoryview) -> TarHeader | None:
    """Read a header of v7, ustar, pax or GNU tar; None for a block of zeros, which ends an archive.

    Raises:
        DataError: It is not a header, or damaged.
    """
    name, size, checksum, kind, magic, prefix = _FIELDS.unpack(block)
    # The low half of Adler-32 is one more than the sum of the bytes, modulo 65,521. Summing in Python would take longer
    # than everything else. The checksum itself counts as eight spaces.
    total = (zlib.adler32(block[156:], zlib.adler32(block[:148])) & 0xFFFF) - 1 + 8 * 32
    try:
        is_usual = (total - int(checksum[:6], 8)) % 65521 == 0
        length = int(size[:-1], 8)
    except ValueError:
        is_usual, length = False, 0
    if not is_usual:
        if bytes(block) == _ZEROS:
            return None
        if not _checksum_fits(bytes(block), checksum):
            raise DataError("there is no tar header here: the checksum does not fit")
        length = _number(size)
    name = name.partition(b"\0")[0]
    if prefix[0] and magic == b"ustar\0":
        name = prefix.partition(b"\0")[0] + b"/" + name
    if kind in b"\x0070":  # old tar; contiguous files
        kind = b"5" if name.endswith(b"/") else b"0"
    return TarHeader(name, length, kind)


def _checksum_fits(block: bytes, checksum: bytes) -> bool:
    """Compare the sum of all bytes with a checksum in an unusual form."""
    try:
        stored = int(checksum.strip(b" \0"), 8)
    except ValueError:
        return False
    others = block[:148] + b" " * 8 + block[156:]
    above = sum(byte > 127 for byte in others)  # noqa: PLR2004 - ancient tars summed signed bytes
    return stored in (sum(others), sum(others) - 256 * above)


def _number(field: bytes) -> int:
    """Read a number in octal, or in base 256 where the first bit is set."""
    if field[0] & 0x80:
        value = int.from_bytes(field, "big") - (0x80 << 8 * (len(field) - 1))
        if value >> 63:
            raise DataError("there is no tar header here: the size is absurd")
        return value
    digits = field.strip(b" \0")
    try:
        return int(digits, 8) if digits else 0
    except ValueError as error:
        raise DataError("there is no tar header here: the size is not a number") from error


def parse_pax(content: bytes) -> dict[str, bytes]:
    r"""Read the attributes in a pax header: ``LENGTH KEY=VALUE\n``, again and again.

    >>> parse_pax(b"14 path=a.jpg\n")
    {'path': b'a.jpg'}

    Raises:
        DataError: The lengths do not fit.
    """
    attributes: dict[str, bytes] = {}
    position = 0
    while position < len(content) and content[position]:
        digits = content[position : position + 20].partition(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        record = content[position + len(digits) + 1 : position + length]
        key, equals, value = record.partition(b"=")
        if not equals or not value.endswith(b"\n"):
            raise DataError("the extended header of a tar member is damaged")
        attributes[key.decode("utf-8", "replace")] = value[:-1]
        position += length
    return attributes


def member_header(name: str, size_bytes: int) -> bytes:
    """Return the header of a file, the same for the same name and size: owner and time are zero.

    Long names, names beyond ASCII and sizes of 8 GiB or more go to a pax header in front.

    >>> len(member_header("a.jpg", 5)), len(member_header("é.jpg", 5))
    (512, 1536)
    """
    raw = name.encode()
    attributes = {}
    if len(raw) > _NAME_BYTES or not raw.isascii():
        attributes["path"] = raw
    if size_bytes > _MAX_OCTAL:
        attributes["size"] = b"%d" % size_bytes
    header = _block(raw[:_NAME_BYTES], min(size_bytes, _MAX_OCTAL), b"0")
    if not attributes:
        return header
    content = b"".join(_pax_record(key, value) for key, value in attributes.items())
    filler = bytes(padded(len(content)) - len(content))
    return _block(b"PaxHeader", len(content), b"x") + content + filler + header


def end_of_archive() -> bytes:
    """Return the two blocks of zeros that end an archive."""
    return _ZEROS * 2


def _block(name: bytes, size_bytes: int, kind: bytes) -> bytes:
    front = name.ljust(_NAME_BYTES, b"\0") + _MODE + _OWNER * 2 + b"%011o\0" % size_bytes + _TIME
    bare = (front + _BLANK_CHECKSUM + kind + bytes(_NAME_BYTES) + _USTAR).ljust(BLOCK_BYTES, b"\0")
    return bare[:148] + b"%06o\0 " % sum(bare) + bare[156:]


def _pax_record(key: str, value: bytes) -> bytes:
    body = b" " + key.encode() + b"=" + value + b"\n"
    length = len(body)
    while length != len(body) + len(b"%d" % length):  # the length counts its own digits
        length = len(body) + len(b"%d" % length)
    return b"%d" % length + body
