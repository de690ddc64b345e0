"""Cut the input into units of work: small files together, large ones in equal pieces, lazily and in order."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from curator_core.authoring.tasks import FileSlice
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from curator_core.files.paths import FileEntry

    GroupSizes = Callable[[FileEntry], Sequence[int] | None]
    ByteEdges = Callable[[FileEntry], Sequence[int] | None]

__all__ = ["MAX_FILES_PER_GROUP", "plan_slices"]

MAX_FILES_PER_GROUP = 256
"""Files in one unit of work at most: opening a remote file takes tens of milliseconds, however small it is."""


def plan_slices(
    entries: Iterable[FileEntry],
    *,
    block_bytes: int,
    splittable: Callable[[FileEntry], bool] = lambda entry: False,  # noqa: ARG005
    group_sizes: GroupSizes | None = None,
    byte_edges: ByteEdges | None = None,
) -> Iterator[tuple[FileSlice, ...]]:
    """Yield units of work of about ``block_bytes``, in the order of ``entries``.

    >>> from curator_core.sdk import FileEntry
    >>> files = [FileEntry("a.log", 40), FileEntry("b.log", 50), FileEntry("c.log", 30)]
    >>> [[piece.path for piece in unit] for unit in plan_slices(files, block_bytes=100)]
    [['a.log', 'b.log'], ['c.log']]

    Args:
        entries: The files; pulled one at a time.
        block_bytes: Neighbouring files are grouped up to this size; a larger splittable file is cut into
            ``ceil(size / block_bytes)`` pieces whose sizes differ by at most one byte.
        splittable: Whether a file may be cut at any byte.
        group_sizes: For files cut by row group: the bytes of each group, or None to take the file whole. Asked only
            about files larger than ``block_bytes``, because the answer means reading the file's footer.
        byte_edges: For files cut between records: where, from 0 to the file's size, or None to take the file whole.
            Asked only about files larger than ``block_bytes``.
    """
    if block_bytes <= 0:
        raise ConfigError(f"block_bytes must be positive, got {block_bytes}")
    waiting: list[FileSlice] = []
    waiting_bytes = 0
    for entry in entries:
        pieces = _cut(entry, block_bytes, splittable, group_sizes, byte_edges)
        # A file of unknown size may be huge, so it travels alone.
        size = block_bytes if entry.size_bytes is None else entry.size_bytes
        stays_apart = len(pieces) > 1 or size >= block_bytes
        if waiting and (stays_apart or waiting_bytes + size > block_bytes or len(waiting) >= MAX_FILES_PER_GROUP):
            yield tuple(waiting)
            waiting, waiting_bytes = [], 0
        if stays_apart:
            yield from ((piece,) for piece in pieces)
        else:
            waiting += pieces
            waiting_bytes += size
    if waiting:
        yield tuple(waiting)


def _cut(
    entry: FileEntry,
    block_bytes: int,
    splittable: Callable[[FileEntry], bool],
    group_sizes: GroupSizes | None,
    byte_edges: ByteEdges | None,
) -> list[FileSlice]:
    whole = FileSlice(entry.path, file_bytes=entry.size_bytes, version=entry.version, key=entry.key)
    size = entry.size_bytes
    if size is None or size <= block_bytes:
        return [whole]
    if splittable(entry):
        count = -(-size // block_bytes)
        edges: Sequence[int] | None = [index * size // count for index in range(count + 1)]
    else:
        edges = byte_edges(entry) if byte_edges else None
    if edges is not None:
        return [replace(whole, start=start, end=end) for start, end in pairwise(edges)]
    groups = group_sizes(entry) if group_sizes else None
    if groups is None or len(groups) <= 1:
        return [whole]
    return [replace(whole, row_groups=each) for each in _group_ranges(groups, block_bytes)]


def _group_ranges(groups: Sequence[int], block_bytes: int) -> Iterator[tuple[int, int]]:
    first, total = 0, 0
    for index, group_bytes in enumerate(groups):
        if index > first and total + group_bytes > block_bytes:
            yield first, index
            first, total = index, 0
        total += group_bytes
    yield first, len(groups)
