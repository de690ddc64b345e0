"""List input files: paths, folders, globs and URLs become a sorted list of files with their sizes and versions."""

from __future__ import annotations

import difflib
import os
import posixpath
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from curator_core.files.filesystems import full_url, is_local, open_filesystem, protocols
from curator_core.files.local_files import (
    FoundFile,
    glob_files,
    glob_root,
    irregular_kind,
    is_hidden,
    matches_glob,
    walk_files,
)
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from fsspec import AbstractFileSystem

__all__ = ["FileEntry", "list_files", "would_list"]

_MAGIC = frozenset("*?[")
_VERSION_KEYS = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "updated", "mtime", "created")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file that was found.

    >>> FileEntry("corpus/en/a.jsonl", 120, root="corpus/").name
    'en/a.jsonl'

    Args:
        path: Plain path when local, else a URL with its protocol.
        size_bytes: Its size; None where the server does not tell.
        version: Modification time in nanoseconds (local) or etag or modification time (remote); empty if unknown.
        root: What its path begins with: the folder that was asked for, or the one above the first wildcard or the file.
        key: What tells it from the other files, wherever the folder is; empty unless asked for.
    """

    path: str
    size_bytes: int | None
    version: str = ""
    root: str = ""
    key: str = ""

    @property
    def name(self) -> str:
        """Its path below the folder that was asked for."""
        if not self.path.startswith(self.root):
            return posixpath.basename(self.path)
        return self.path[len(self.root) :].partition("::")[0]


def list_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    extensions: Sequence[str] | None = None,
    recursive: bool = True,
    follow_links: bool = False,
    on_refused: Callable[[FoundFile], None] | None = None,
    on_ignored: Callable[[str], None] | None = None,
) -> list[FileEntry]:
    """List the files that paths, folders, globs or URLs stand for.

    The order is that of ``paths``, and by name within each; a file is listed once. In folders, and for globs, names
    that start with ``.`` or ``_`` are left out (temporary and marker files) unless the pattern spells that start out.
    ``extensions`` applies to folders and to globs whose last part names none; a file named in full is always taken.

    On this machine, only regular files are taken. A link in a folder, or among what a glob matches, must lead to a
    file or folder inside that folder, since who fills the folder may not be who runs the pipeline.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.txt", "a.txt", "c.png", "_SUCCESS"):
    ...         open(os.path.join(folder, name), "w").close()
    ...     [os.path.basename(entry.path) for entry in list_files(folder, extensions=[".txt"])]
    ['a.txt', 'b.txt']

    Args:
        paths: Files, folders, globs or URLs.
        extensions: Extensions to look for.
        recursive: Look into folders of folders.
        follow_links: Follow links out of the folders, too.
        on_refused: Called with every file refused because of its kind (a link out of its folder, a pipe, a socket, a
            device) and every folder that cannot be read. They are an error unless it is given.
        on_ignored: Called with the path of every file that is left out because of its extension.

    Raises:
        ConfigError: A path matches nothing (says what is there instead), or what must not be read.
    """
    asked = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not asked:
        raise ConfigError("no input paths were given", fix="give at least one file, folder, glob or URL")
    found: dict[str, FileEntry] = {}
    endings, ignore = _endings(extensions), on_ignored or (lambda _: None)
    for each in asked:
        entries, refused = _list_one(os.fspath(each), endings, ignore, recursive=recursive, follow_links=follow_links)
        for entry in entries:
            found.setdefault(entry.path, entry)
        for file in refused:
            if on_refused is None:
                raise _unusable(file)
            on_refused(file)
    return list(found.values())


def would_list(asked: str, path: str, *, extensions: Sequence[str] | None = None) -> bool:
    """Return whether a file would be among those that a file, folder or glob stands for, if it were there.

    Args:
        asked: A file, folder, glob or URL.
        path: The file, without links if it is local.
        extensions: Extensions to look for.
    """
    filesystem, inner = open_filesystem(os.path.expanduser(asked))  # noqa: PTH111 - may be a URL
    if is_local(filesystem):
        if "://" in path:
            return False
    elif path.partition("://")[0] not in protocols(filesystem):
        return False
    else:
        path = open_filesystem(path)[1]
    endings = _endings(extensions)
    # As in a listing, a name that is there counts before the pattern that it could be.
    if _MAGIC & set(inner) and not filesystem.exists(inner):
        pattern = _without_links(inner) if is_local(filesystem) else inner
        return matches_glob(pattern, path) and _ends(path, _endings_for_glob(pattern, endings))
    root = os.path.realpath(inner) if is_local(filesystem) else inner.rstrip("/")
    if path == root:
        return True
    inside = path[len(root) :].strip("/").split("/")
    is_inside = path.startswith(f"{root.rstrip('/')}/")
    return is_inside and not any(map(is_hidden, inside)) and _ends(path, endings)


def _without_links(pattern: str) -> str:
    """Resolve the links above the first wildcard of a pattern."""
    folder = glob_root(pattern)
    return posixpath.join(os.path.realpath(folder), pattern[len(folder) :].lstrip("/"))


def _endings(extensions: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(f".{each.lower().removeprefix('.')}" for each in extensions or ())


def _endings_for_glob(pattern: str, endings: tuple[str, ...]) -> tuple[str, ...]:
    return () if "." in posixpath.basename(pattern) else endings


def _ends(path: str, endings: tuple[str, ...]) -> bool:
    return not endings or path.lower().endswith(endings)


def _list_one(
    asked: str, endings: tuple[str, ...], on_ignored: Callable[[str], None], *, recursive: bool, follow_links: bool
) -> tuple[list[FileEntry], list[FoundFile]]:
    if not asked:
        raise ConfigError("an input path is empty", fix="check the variable it came from")
    filesystem, path = open_filesystem(os.path.expanduser(asked))  # noqa: PTH111 - may be a URL
    entries: list[FileEntry] = []
    refused: list[FoundFile] = []
    try:
        matches = _match(filesystem, path, endings, on_ignored, recursive=recursive, follow_links=follow_links)
        found = sorted(matches, key=attrgetter("path"))
        folder = _root(path, found[0].path if found else path)
        root = full_url(filesystem, f"{folder}/\0", asked).partition("\0")[0]
        for each in found:
            entry = _entry(filesystem, each, asked, root)
            if isinstance(entry, FileEntry):
                entries.append(entry)
            else:
                refused.append(entry)
    except OSError as error:
        raise ConfigError(f"cannot list {asked!r}: {error}", fix="check the address and your permissions") from error
    if not entries:
        raise _unusable(*refused) if refused else _nothing_matched(filesystem, asked, path, endings)
    return entries, refused


def _root(path: str, found: str) -> str:
    """Return the folder, without a final slash, that names are relative to, given one of the files that were found."""
    if found == path:
        return posixpath.dirname(path).rstrip("/")
    folder = path.rstrip("/")
    if not found.startswith(f"{folder}/") and _MAGIC & set(path):
        folder = glob_root(path).rstrip("/")
    return folder


def _match(
    filesystem: AbstractFileSystem,
    path: str,
    endings: tuple[str, ...],
    on_ignored: Callable[[str], None],
    *,
    recursive: bool,
    follow_links: bool,
) -> Iterator[FoundFile]:
    is_here = is_local(filesystem)
    is_folder, exists = (os.path.isdir, os.path.exists) if is_here else (filesystem.isdir, filesystem.exists)
    if is_folder(path):
        if is_here:
            found = walk_files(path, recursive=recursive, follow_links=follow_links)
        else:
            infos = filesystem.find(path, maxdepth=None if recursive else 1, detail=True)
            start = len(path.rstrip("/"))
            names = (name for name in infos if not any(map(is_hidden, name[start:].split("/"))))
            found = (FoundFile(name, info=infos[name]) for name in names)
    elif exists(path):  # before the glob, since real names may contain brackets
        yield FoundFile(path, info=None if is_here else filesystem.info(path))
        return
    elif _MAGIC & set(path):
        if is_here:
            found = glob_files(path, follow_links=follow_links)
        else:
            infos = filesystem.glob(path, detail=True)
            found = (FoundFile(name, info=info) for name, info in infos.items() if info["type"] == "file")
        endings = _endings_for_glob(path, endings)
        if not is_hidden(posixpath.basename(path)):
            found = (each for each in found if not is_hidden(posixpath.basename(each.path)))
    else:
        return
    for each in found:
        if each.is_folder or _ends(each.path, endings):
            yield each
        else:
            on_ignored(each.path)


def _entry(filesystem: AbstractFileSystem, found: FoundFile, asked: str, root: str) -> FileEntry | FoundFile:
    """Return a file with its size and version, or what was found where it must not be read."""
    if found.info is not None:
        version = next((str(found.info[key]) for key in _VERSION_KEYS if found.info.get(key)), "")
        return FileEntry(full_url(filesystem, found.path, asked), found.info.get("size"), version, root)
    if found.reason:
        return found
    try:
        status = os.stat(found.path)  # noqa: PTH116 - fsspec gives the time as a float, which loses nanoseconds
    except OSError:  # a link to nowhere, or gone since it was listed: reading it will say so
        return FileEntry(found.path, None, root=root)
    kind = irregular_kind(status.st_mode)
    if kind is not None:
        return FoundFile(found.path, f"it is a {kind}, not a regular file")
    return FileEntry(found.path, status.st_size, str(status.st_mtime_ns), root)


def _unusable(first: FoundFile, *others: FoundFile) -> ConfigError:
    more = f" (and {len(others)} more like it)" if others else ""
    return ConfigError(f"{first.path!r} cannot be read: {first.reason}{more}", fix="name regular files")


def _nothing_matched(filesystem: AbstractFileSystem, asked: str, path: str, extensions: tuple[str, ...]) -> ConfigError:
    if filesystem.isdir(path):
        inside = [name for name in _names(filesystem, path) if not is_hidden(name)]
        holds = f"it holds {_some(inside)}" if inside else "it is empty"
        wanted = f" ending in {' or '.join(extensions)}" if extensions else ""
        return ConfigError(
            f"the folder {asked!r} has no files{wanted}; {holds}",
            fix="name the files or a glob such as 'folder/**/*.json'" if inside else "check the path",
        )
    parent = path
    while parent not in ("", "/") and not (parent != path and filesystem.isdir(parent)):
        parent = posixpath.dirname(parent.rstrip("/"))
    missing = path[len(parent) :].strip("/").partition("/")[0]
    what = f"no file matches {asked!r}" if _MAGIC & set(path) else f"{asked!r} does not exist"
    siblings = _names(filesystem, parent)
    close = difflib.get_close_matches(missing, siblings)
    if close:
        hint = f"did you mean {' or '.join(repr(posixpath.join(parent, each)) for each in close)}?"
    elif siblings:
        hint = f"the nearest folder that exists is {parent!r}; it holds {_some(siblings)}"
    else:
        hint = "check the path, or the variable it came from"
    return ConfigError(what, fix=hint)


def _names(filesystem: AbstractFileSystem, folder: str) -> list[str]:
    try:
        return sorted(posixpath.basename(str(name).rstrip("/")) for name in filesystem.ls(folder, detail=False))
    except (OSError, ValueError):  # this only serves a better message
        return []


def _some(names: Iterable[str]) -> str:
    shown, names = 5, list(names)
    text = ", ".join(repr(name) for name in names[:shown])
    return f"{text} and {len(names) - shown} more" if len(names) > shown else text
