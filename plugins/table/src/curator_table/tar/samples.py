"""Group the members of a tar archive into samples, as WebDataset does: neighbours that share a key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curator_core.sdk import BadRecord, StreamError, report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curator_table.tar.archive_bytes import ArchiveBytes, Part
    from curator_table.tar.members import TarMember

__all__ = ["TarSample", "group_samples", "sample_edges", "split_name"]

MAX_PARTS = 100
"""Members of one sample at most: each becomes a column."""


@dataclass(slots=True)
class TarSample:
    """Members that belong together.

    Args:
        key: The common part of their names: the path up to the first dot of the base name.
        start: Offset of the first header.
        parts: Content by extension, which is everything behind that dot.
        size_bytes: Bytes of all parts.
    """

    key: str
    start: int
    parts: dict[str, Part] = field(default_factory=dict)
    size_bytes: int = 0


def split_name(name: str) -> tuple[str, str] | None:
    """Return key and extension of a member's name; None where it has none, as hidden files.

    >>> split_name("a/b.c/0001.seg.png"), split_name("a/README"), split_name("a/.index.json")
    (('a/b.c/0001', 'seg.png'), None, None)
    """
    begin = name.rfind("/") + 1
    dot = name.find(".", begin)
    return (name[:dot], name[dot + 1 :]) if dot > begin and dot + 1 < len(name) else None


def group_samples(archive: ArchiveBytes, members: Iterator[TarMember], path: str) -> Iterator[TarSample]:
    """Yield the samples of an archive.

    A member without a key is counted and left out. A sample of which a member is cut off by the end of the file, a
    second member of the same name, and members beyond a hundred are reported.
    """
    sample: TarSample | None = None
    skipped = 0
    for member in members:
        names = split_name(member.name)
        if names is None:
            skipped += 1
            continue
        key, extension = names
        if sample is None or key != sample.key:
            if sample is not None:
                yield sample
            sample = TarSample(key, member.start)
        content = _content(archive, member, path)
        if content is None:
            sample = None
            break
        if extension in sample.parts or len(sample.parts) >= MAX_PARTS:
            why = "is there twice" if extension in sample.parts else f"is one of more than {MAX_PARTS} of its sample"
            report().bad_record(BadRecord(f"{member.name!r} {why}", path, member.start, "RepeatedMember"))
            continue
        sample.parts[extension] = content
        sample.size_bytes += member.size_bytes
    if sample is not None:
        yield sample
    if skipped:
        report().count(skipped_members=skipped)


def _content(archive: ArchiveBytes, member: TarMember, path: str) -> Part | None:
    """Return the content of a member; None where it is cut off or damaged, which is reported."""
    try:
        content = archive.part(member.offset, member.size_bytes)
        if len(content) == member.size_bytes:
            return content
        how = f"the archive ends in the middle of {member.name!r}: {len(content):,} of {member.size_bytes:,} bytes"
        problem = BadRecord(how, path, member.start, "TornFile")
    except StreamError as error:
        problem = BadRecord(f"in the middle of {member.name!r}: {error.reason}", path, member.start, error.error_type)
    report().bad_record(problem)
    return None


def sample_edges(members: Iterator[TarMember], *, file_bytes: int, block_bytes: int) -> Sequence[int]:
    """Return where to cut an archive between samples: the fewest pieces of about ``block_bytes``.

    Only headers are looked at. The first edge is 0 and the last the end of the file.
    """
    edges = [0]
    key = None
    for member in members:
        names = split_name(member.name)
        if names is None or names[0] == key:
            continue
        if key is not None and member.start - edges[-1] >= block_bytes:
            edges.append(member.start)
        key = names[0]
    return [*edges, file_bytes]
