"""Find files in folders of this machine: regular files only, and links only where they stay inside the folder."""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from curator_core.files.locations import is_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["FoundFile", "glob_files", "glob_root", "irregular_kind", "is_hidden", "matches_glob", "walk_files"]

_KINDS = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file in a folder, or something in its place.

    Args:
        path: Where.
        reason: Why it must not be read, as a sentence that begins with "it"; empty where it may be.
        is_folder: Whether it is a folder, or a link to one, that is not looked into.
        info: What fsspec says of it, where it is not on this machine.
    """

    path: str
    reason: str = ""
    is_folder: bool = False
    info: Mapping[str, Any] | None = None


def irregular_kind(mode: int) -> str | None:
    """Return what a file is that is not a regular one (``pipe``), from the mode that ``os.stat`` gives."""
    return None if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "device")


def walk_files(root: str, *, recursive: bool = True, follow_links: bool = False) -> Iterator[FoundFile]:
    """Yield the files of a folder, in no order, without those whose path in it has a hidden name (``.git``, ``_tmp``).

    A link is followed where it stays inside the folder, or anywhere with ``follow_links``. A folder that several paths
    lead to is entered once, and by a path without links if it has one. A folder in it that cannot be read is refused.
    """
    return _walk(root, _Glob(["**" if recursive else "*"]), takes_hidden=False, follow_links=follow_links)


def glob_files(pattern: str, *, follow_links: bool = False) -> Iterator[FoundFile]:
    """Yield the files that an absolute pattern matches, with the rules of fsspec; see :func:`walk_files`.

    Links are judged by the folder above the first wildcard. Only folders that can hold a match are looked at.
    """
    root = glob_root(pattern)
    if not os.path.isdir(root):  # noqa: PTH112 - beside fsspec's strings
        return iter(())
    glob = _Glob(pattern[len(root) :].strip("/").split("/"))
    return _walk(root, glob, takes_hidden=True, follow_links=follow_links)


def glob_root(pattern: str) -> str:
    """Return the folder above the first wildcard of an absolute pattern.

    >>> glob_root("/data/*/a.json"), glob_root("/*.json")
    ('/data', '/')
    """
    return re.split(r"[*?[]", pattern, maxsplit=1)[0].rpartition("/")[0] or "/"


def matches_glob(pattern: str, path: str) -> bool:
    """Return whether a path matches a pattern, with the rules of fsspec.

    >>> matches_glob("/data/*.json", "/data/a.json"), matches_glob("/data/*.json", "/data/out/a.json")
    (True, False)
    """
    from fsspec.utils import glob_translate

    return re.match(glob_translate(pattern.strip("/")), path.strip("/")) is not None


def is_hidden(name: str) -> bool:
    """Return whether a name is that of a temporary or marker file, or of a folder of such."""
    return name.startswith((".", "_"))


class _Glob:
    """Match a path against a pattern, one name at a time.

    A position is the number of parts of the pattern that names have been matched with so far. There may be several,
    because ``**`` stands for any number of folders. Equal positions have equal matches below them.
    """

    def __init__(self, parts: Sequence[str]) -> None:
        from fsspec.utils import glob_translate

        self._parts = [None if part == "**" else re.compile(glob_translate(part)) for part in parts]
        self._last = len(parts) - 1
        self.start = self._reached({0})

    def after(self, positions: frozenset[int], name: str) -> tuple[bool, frozenset[int]]:
        """Return whether a file of this name matches, and the positions in a folder of this name; none: no match."""
        matched = [each for each in positions if (part := self._parts[each]) is None or part.match(name)]
        inside = {each if self._parts[each] is None else each + 1 for each in matched}
        return self._last in matched, self._reached(inside - {self._last + 1})

    def _reached(self, positions: set[int]) -> frozenset[int]:
        """Add the positions behind ``**``, which may stand for nothing unless it comes last."""
        for position in sorted(positions):
            while position < self._last and self._parts[position] is None:
                position += 1  # noqa: PLW2901 - walks on from each position
                positions.add(position)
        return frozenset(positions)


def _walk(root: str, glob: _Glob, *, takes_hidden: bool, follow_links: bool) -> Iterator[FoundFile]:
    real_root = os.path.realpath(root)
    entered: set[tuple[str, frozenset[int]]] = set()
    waiting = deque([(root, real_root, glob.start)])
    while waiting:
        folder, real_folder, positions = waiting.popleft()
        if (real_folder, positions) in entered:
            continue
        entered.add((real_folder, positions))
        try:
            matching = _matching(folder, positions, glob, takes_hidden=takes_hidden)
        except OSError as error:
            if folder == root:
                raise
            yield FoundFile(folder, f"it is a folder that cannot be read: {error.strerror or error}", is_folder=True)
            continue
        for entry, is_folder, below in matching:
            path = f"{folder.rstrip('/')}/{entry.name}"
            is_link = entry.is_symlink()
            real = os.path.realpath(path) if is_link else f"{real_folder.rstrip('/')}/{entry.name}"
            if is_link and not follow_links and not is_below(real, real_root):
                reason = (
                    f"it is a link that leads out of {root!r}; to read it, name it in full, or set follow_links: true"
                )
                yield FoundFile(path, reason, is_folder=is_folder)
            elif not is_folder:
                yield FoundFile(path)
            elif is_link:  # entered last, so that a folder inside is known by its own path
                waiting.append((path, real, below))
            else:
                waiting.appendleft((path, real, below))


def _matching(
    folder: str, positions: frozenset[int], glob: _Glob, *, takes_hidden: bool
) -> list[tuple[os.DirEntry[str], bool, frozenset[int]]]:
    """Return the files of a folder that match, and the folders that may hold some: entry, is it a folder, positions."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=attrgetter("name"))  # the same link must be the first one everywhere
    except FileNotFoundError:  # it was removed since its parent was read
        return []
    matching = []
    for entry in entries:
        matches, below = glob.after(positions, entry.name)
        if (matches or below) and (takes_hidden or not is_hidden(entry.name)):
            is_folder = _is_folder(entry)
            if below if is_folder else matches:
                matching.append((entry, is_folder, below))
    return matching


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself: reading it will say so
        return False
