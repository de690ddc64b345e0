"""Find files in folders of this machine: regular files only, and links only where they stay inside the folder."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.io.locations import is_below

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FoundFile", "glob_files", "irregular_kind", "walk_files"]

_KINDS = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file in a folder, or something in its place.

    Args:
        path: Where.
        refusal: Why it is not taken; empty for a file that is.
        is_folder: Whether it is a link to a folder, which is not looked into.
    """

    path: str
    refusal: str = ""
    is_folder: bool = False


def irregular_kind(mode: int) -> str | None:
    """Return what a file is that is not a regular one (``pipe``), from the mode that ``os.stat`` gives."""
    return None if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "device")


def walk_files(root: str, *, max_depth: int | None = None, follow_links: bool = False) -> Iterator[FoundFile]:
    """Yield the files below a folder, in no order.

    A link to a file is taken where it stays inside the folder. A link to a folder inside is passed over, because its
    files are found where they are.

    Args:
        root: The folder.
        max_depth: How many levels to look at; 1 for the folder itself only.
        follow_links: Also take files, and look into folders, that links outside of the folder lead to.

    Raises:
        OSError: A folder cannot be read.
    """
    home = os.path.realpath(root)
    entered = {home}
    waiting = [(root, 1)]
    while waiting:
        folder, depth = waiting.pop()
        for entry in _entries(folder):
            path = f"{folder.rstrip('/')}/{entry.name}"
            target = os.path.realpath(path) if entry.is_symlink() else None
            leads_out = target is not None and not is_below(target, home)
            if not _is_folder(entry):
                yield FoundFile(path, _link_out_of(root) if leads_out and not follow_links else "")
            elif max_depth is not None and depth >= max_depth:
                continue
            elif target is None:
                waiting.append((path, depth + 1))
            elif leads_out and not follow_links:
                yield FoundFile(path, _link_out_of(root), is_folder=True)
            elif leads_out and target not in entered:
                entered.add(target)
                waiting.append((path, depth + 1))


def glob_files(pattern: str, *, follow_links: bool = False) -> Iterator[FoundFile]:
    """Yield the files that an absolute pattern matches, with the rules of fsspec; see :func:`walk_files`.

    Links are judged by the folder above the first wildcard.
    """
    from fsspec.utils import glob_translate

    root = pattern[: re.search(r"[*?[]", pattern).start()].rpartition("/")[0] or "/"  # type: ignore[union-attr]
    depth = None if "**" in pattern else pattern[len(root) :].strip("/").count("/") + 1
    if not os.path.isdir(root):  # noqa: PTH112 - beside fsspec's strings
        return
    matches = re.compile(glob_translate(pattern)).match
    for each in walk_files(root, max_depth=depth, follow_links=follow_links):
        if each.is_folder or matches(each.path):
            yield each


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:  # it was removed since its parent was read
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself: reading it will say so
        return False


def _link_out_of(folder: str) -> str:
    return f"it is a link that leads out of {folder!r}; to read it, name it in full, or set follow_links: true"
