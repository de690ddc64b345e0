"""The source tasks that a ledger knows, with the digests of those whose ids are only positions."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from curator_core.values.source_ids import SourceIds, as_digest, as_position

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["KnownSources"]

_PAGE_BITS = 12
_NOTHING = 0


class KnownSources(SourceIds):
    """Source ids, each with the digest of its content or None: 8 bytes for a position, beside the set itself.

    >>> known = KnownSources()
    >>> known.put("0", "3f2a9c0d11e4b7a6")
    >>> known.content("0"), known.content("1")
    ('3f2a9c0d11e4b7a6', None)
    """

    def __init__(self) -> None:
        super().__init__()
        self._contents: dict[int, array[int]] = {}
        self._other_contents: dict[str, str] = {}

    def put(self, source: str, content: str | None) -> None:
        """Add a source task, or replace the digest of its content."""
        if not self.add(source):
            self._forget_content(source)
        if content is None:
            return
        position, digest = as_position(source), as_digest(content)
        if position is None or not digest:
            self._other_contents[source] = content
            return
        page = self._contents.get(position >> _PAGE_BITS)
        if page is None:
            page = self._contents[position >> _PAGE_BITS] = array("Q", bytes(8 << _PAGE_BITS))
        page[position & ((1 << _PAGE_BITS) - 1)] = digest

    def content(self, source: str) -> str | None:
        """Return the digest of a source task's content, where one is known."""
        position = as_position(source)
        page = None if position is None else self._contents.get(position >> _PAGE_BITS)
        digest = _NOTHING if page is None or position is None else page[position & ((1 << _PAGE_BITS) - 1)]
        return f"{digest:016x}" if digest else self._other_contents.get(source)

    def without(self, sources: Container[str]) -> KnownSources:
        """Return those that are not among some others."""
        kept = KnownSources()
        for source in self:
            if source not in sources:
                kept.put(source, self.content(source))
        return kept

    def _forget_content(self, source: str) -> None:
        self._other_contents.pop(source, None)
        position = as_position(source)
        page = None if position is None else self._contents.get(position >> _PAGE_BITS)
        if page is not None and position is not None:
            page[position & ((1 << _PAGE_BITS) - 1)] = _NOTHING
