"""Folders and files that only this user can use, and the check that nobody else can change one.

Rows that a run keeps aside are closed to others. Caches of compiled code are checked before they are read: whoever can
write to one decides what this user runs.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

__all__ = ["make_private_folder", "private_opener", "why_not_own", "why_not_private"]

_FOLDER, _FILE, _OTHERS = 0o700, 0o600, 0o077
_MAX_LINKS = 40
"""As many links as Linux follows in one path."""


def make_private_folder(path: Path) -> None:
    """Make a folder that only this user can open; one that exists keeps its permissions, which its owner may have set.

    Folders above it are made as any others.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=_FOLDER, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """Open a file, for ``open(..., opener=private_opener)``; a new one is readable and writable by this user only."""
    return os.open(path, flags, _FILE)


def why_not_private(folder: Path) -> str | None:
    """Return why somebody else could have changed what is in a folder, or None where only this user can.

    The folder and all that is in it must be no links, belong to this user and be writable by nobody else; where nobody
    else can open the folder, the modes of what is in it do not matter (numba makes files as the umask says). Nobody but
    this user and root may be able to put another folder in its place, or in the place of one above it: those belong to
    either, and others can write there only where the sticky bit keeps them from renaming what is not theirs.

    Windows has no such owners and modes; there the answer is None.
    """
    if not hasattr(os, "getuid"):
        return None
    folder = folder.absolute()
    if ".." in folder.parts:
        return f"{folder} has a '..' in it"
    reason = why_not_own(folder)
    is_closed = not folder.lstat().st_mode & _OTHERS
    for path in sorted(folder.rglob("*")):
        with suppress(FileNotFoundError):  # a process of this user has just removed it
            reason = reason or why_not_own(path, any_mode=is_closed)
    return reason or _why_replaceable(folder)


def why_not_own(path: Path, *, any_mode: bool = False) -> str | None:
    """Return why a file or folder is not this user's alone to change, or None; those above it are not looked at.

    With ``any_mode``, others may write to it: for what is in a folder that only this user can open.
    """
    if not hasattr(os, "getuid"):
        return None
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return f"{path} is a link"
    if found.st_uid != os.getuid():
        return f"{path} belongs to {_user_name(found.st_uid)}"
    if not any_mode and _others_can_write(found):
        return f"others can write to {path} (mode {stat.S_IMODE(found.st_mode):o})"
    return None


def _why_replaceable(path: Path) -> str | None:
    """Return why somebody else could put another file in the place of a path, in a folder or link that leads to it."""
    place, ahead, links = Path(path.anchor), list(path.parts[:0:-1]), 0
    reason = _why_untrusted(place)
    while ahead and reason is None:
        name = ahead.pop()
        if name == "..":  # of a link's target; the folder above was passed on the way here
            place = place.parent
            continue
        reason = _why_untrusted(place / name)
        if not (place / name).is_symlink():
            place /= name
            continue
        links += 1
        if links > _MAX_LINKS:
            return f"{place / name} is a link to a link to a link"
        target = (place / name).readlink()
        place = Path(target.anchor) if target.anchor else place
        ahead += reversed(target.parts[bool(target.anchor) :])
    return reason


def _why_untrusted(path: Path) -> str | None:
    """Return why somebody else could change a link, or replace what is in a folder."""
    found = path.lstat()
    if found.st_uid not in (0, os.getuid()):
        return f"{path} belongs to {_user_name(found.st_uid)}"
    is_link, is_sticky = stat.S_ISLNK(found.st_mode), bool(found.st_mode & stat.S_ISVTX)
    if _others_can_write(found) and not is_link and not is_sticky:
        return f"others can write to {path} (mode {stat.S_IMODE(found.st_mode):o})"
    return None


def _others_can_write(found: os.stat_result) -> bool:
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(group_id: int) -> bool:
    """Return whether a group is this user's alone: many systems give every user a group of the same name."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(group_id)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}


def _user_name(user_id: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(user_id).pw_name}"
    except KeyError:
        return f"the user with the id {user_id}"
