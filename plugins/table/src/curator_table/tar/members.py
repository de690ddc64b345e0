"""Walk the members of any tar archive: report unusable members and continue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from curator_core.sdk import BadRecord, DataError, StreamError, report
from curator_table.foreign_content import content_named
from curator_table.tar.headers import BLOCK_BYTES, padded, parse_header, parse_pax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from curator_table.tar.archive_bytes import ArchiveBytes
    from curator_table.tar.headers import TarHeader

__all__ = ["TarLimits", "TarMember", "walk_members"]

_MAX_ATTRIBUTE_BYTES = 2**20
_FORBIDDEN = {
    b"1": "a hard link", b"2": "a symbolic link", b"3": "a device", b"4": "a device", b"6": "a pipe",
    b"S": "a sparse file", b"M": "a part of a file on another volume",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TarLimits:
    """Limits for reading an archive.

    Args:
        max_member_bytes: Largest member; a larger one is reported and jumped over.
        max_members: Maximum number of members of an archive; the rest is reported and left.
    """

    max_member_bytes: int = 2**30
    max_members: int = 10_000_000


class TarMember(NamedTuple):
    """A file in an archive."""

    name: str
    """Its path there."""
    start: int
    """Where it begins, with the headers in front of it."""
    offset: int
    """Where its content begins."""
    size_bytes: int


def walk_members(
    archive: ArchiveBytes, path: str, limits: TarLimits, *, start: int = 0, end: int | None = None
) -> Iterator[TarMember]:
    """Yield the files of an archive whose headers lie between two offsets, in order.

    Reported as bad records, each with the offset of its header: links, devices and sparse files, names that lead out
    of the archive or are not text, members over the limit, an archive that ends too early. Where a header is damaged,
    the walk continues at the next intact one.

    Args:
        archive: The archive.
        path: Its path, for reports.
        limits: Caps.
        start: Offset of the first header.
        end: Offset of the first header that is not read any more.
    """
    return _Walk(archive, path, limits).members(start, end)


class _Walk:
    def __init__(self, archive: ArchiveBytes, path: str, limits: TarLimits) -> None:
        self._archive = archive
        self._path = path
        self._limits = limits
        self._count = 0

    def members(self, position: int, end: int | None) -> Iterator[TarMember]:
        first: int | None = None  # where the headers of the next member begin, when some came before its own
        attributes: dict[str, bytes] = {}
        ended = False
        max_bytes, take = self._limits.max_member_bytes, self._archive.take
        while end is None or position < end:
            try:
                block = take(position, BLOCK_BYTES)
                if len(block) < BLOCK_BYTES:
                    self._check_end(bytes(block), position, ended=ended)
                    return
                header = parse_header(block)
            except StreamError as error:
                self._report(error.reason, position, error.error_type)
                return
            except DataError as error:
                self._report_damage(error, bytes(block), position)
                position = self._next_header(position + BLOCK_BYTES)
                first, attributes, ended = None, {}, True
                continue
            ended = header is None
            if header is None:
                position += BLOCK_BYTES
                continue
            first = position if first is None else first
            content = position + BLOCK_BYTES
            if header.kind in _ATTRIBUTES:
                if not self._add_attributes(attributes, header, content):
                    attributes["unreadable"] = b""
                position = content + padded(header.size_bytes)
                continue
            size = self._size(header, attributes) if attributes else header.size_bytes
            self._count += 1
            if self._count > self._limits.max_members:
                self._report(f"the archive has more than {self._limits.max_members:,} members", first, "TooManyMembers")
                return
            is_usual = header.kind == b"0" and size <= max_bytes and not attributes and _is_plain(header.name)
            name = header.name.decode() if is_usual else self._usable_name(header, attributes, first, size)
            if name is not None:
                yield TarMember(name, first, content, size)
            position = content + padded(size)
            first, attributes = None, {}

    def _add_attributes(self, attributes: dict[str, bytes], header: TarHeader, offset: int) -> bool:
        if header.size_bytes > _MAX_ATTRIBUTE_BYTES:
            return False
        try:
            content = bytes(self._archive.take(offset, header.size_bytes))
            attributes.update(_ATTRIBUTES[header.kind](content))
        except DataError:  # damage of the stream is met again at the next header
            return False
        return True

    def _size(self, header: TarHeader, attributes: dict[str, bytes]) -> int:
        size = attributes.get("size", b"")
        return int(size) if size.isdigit() and len(size) < 20 else header.size_bytes  # noqa: PLR2004 - 64 bits

    def _usable_name(self, header: TarHeader, attributes: dict[str, bytes], start: int, size: int) -> str | None:
        """Return the name of a file; None for a folder, and for a reported member."""
        raw = attributes.get("path", header.name)
        shown = raw.decode("utf-8", "backslashreplace")[:200]
        if header.kind == b"5":
            return None
        problem = None
        if header.kind != b"0":
            what = _FORBIDDEN.get(header.kind, f"of unknown type {header.kind!r}")
            problem = ("ForbiddenMember", f"{shown!r} is {what}, not a file")
        elif "unreadable" in attributes:
            problem = ("CorruptFile", f"the extended header of {shown!r} is damaged")
        elif any(key.startswith("GNU.sparse") for key in attributes):
            problem = ("ForbiddenMember", f"{shown!r} is a sparse file")
        elif size > self._limits.max_member_bytes:
            limit = f"more than {self._limits.max_member_bytes:,}; raise max_member_bytes if it is genuine"
            problem = ("MemberTooLarge", f"{shown!r} has {size:,} bytes, {limit}")
        elif raw.startswith(b"/") or b".." in raw.split(b"/") or b"\0" in raw or not raw:
            problem = ("ForbiddenMember", f"the name {shown!r} leads out of the archive")
        if problem is None:
            try:
                return raw.decode().removeprefix("./")
            except UnicodeDecodeError:
                problem = ("ForbiddenMember", f"the name {shown!r} is not UTF-8")
        self._report(problem[1], start, problem[0])
        return None

    def _check_end(self, block: bytes, position: int, *, ended: bool) -> None:
        """Report an archive that stops before the zeros at its end."""
        if block:
            self._report(f"the archive ends in the middle of a header, at byte {position:,}", position, "TornFile")
        elif not ended:
            message = (
                "the archive ends without an end mark: members may be missing" if position else "the file is empty"
            )
            self._report(message, position, "TornFile")

    def _next_header(self, position: int) -> int:
        """Return the offset of the next sound header, or of the end of the archive."""
        while len(chunk := self._archive.take(position, _SCAN_BYTES)) >= BLOCK_BYTES:
            for begin in range(0, len(chunk) - BLOCK_BYTES + 1, BLOCK_BYTES):
                block = bytes(chunk[begin : begin + BLOCK_BYTES])
                if block[257:262] == b"ustar" and _is_header(block):
                    return position + begin
            position += len(chunk) // BLOCK_BYTES * BLOCK_BYTES
        return position + len(chunk)

    def _report_damage(self, error: DataError, block: bytes, position: int) -> None:
        found = content_named(block) if position == 0 else None
        message = f"this is {found}, not a tar archive" if found else error.message
        self._report(message, position, "CorruptFile")

    def _report(self, message: str, offset: int | None, error_type: str) -> None:
        report().bad_record(BadRecord(message, self._path, offset, error_type))


_SCAN_BYTES = 2**20


def _is_plain(name: bytes) -> bool:
    """Say whether there is nothing to say about a name, as of nearly all."""
    return name.isascii() and b".." not in name and name[:1] not in b"/."


def _is_header(block: bytes) -> bool:
    try:
        return parse_header(block) is not None
    except DataError:
        return False


_ATTRIBUTES: dict[bytes, Callable[[bytes], dict[str, bytes]]] = {
    b"x": parse_pax,
    b"L": lambda content: {"path": content.partition(b"\0")[0]},
    b"K": lambda content: {},  # noqa: ARG005 - the target of a link, and links are refused
    b"g": lambda content: {},  # noqa: ARG005 - for all members: none of it is needed
    b"V": lambda content: {},  # noqa: ARG005 - a label
}
