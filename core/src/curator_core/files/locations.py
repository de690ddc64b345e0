"""The rule for files that are named by data: which paths and URLs a row may make a run open.

A manifest, or any table with a column of paths, may come from a stranger. What it names is opened only where it was
read from, or where the pipeline says so (``allowed_locations``). Everything here is decided from text and from links on
disk; :mod:`curator_core.authoring.row_files` opens what is allowed.
"""

# ruff: noqa: PTH100, PTH111, PTH117, PTH118, PTH120 - strings as the data has them: a Path would drop parts of them

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from curator_core.values.errors import ConfigError, LocationError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["HOST_SCHEMES", "Location", "check_allowed_locations", "check_location", "is_below"]

HOST_SCHEMES: Final = frozenset({"http", "https", "hdfs", "webhdfs", "sftp", "ssh"})
"""Schemes whose URLs name a machine, which may be one inside the network of the run."""
_BUCKET_SCHEMES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss", "hf", "memory"})
"""Schemes whose URLs name a bucket of a service that the run's own settings choose. All other schemes are refused: many
of them wrap another file, or fetch one (``reference``, ``simplecache``, ``zip``, ``github``, ``jinja`` templates)."""
_FOLDER_SCHEMES = frozenset({"hf"})
"""Schemes where the first part of the path names no owner, so that only the folder of the origin is its place."""
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?::[0-9]{1,5})?")
_BUCKET = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._@-]*[A-Za-z0-9])?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Location:
    """A path, plain when local, or URL that may be opened."""

    path: str
    is_listed: bool = False
    """Whether it is the very file the row was read from, which the pipeline itself named."""
    is_allowed: bool = False
    """Whether ``allowed_locations`` names it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A parsed path or URL. ``scheme`` is empty for a local path, which is absolute and without ``..``."""

    scheme: str
    authority: str
    path: str

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}" if self.scheme else self.path


def check_location(value: str, *, origin: str | None, allowed: Iterable[str] = ()) -> Location:
    """Return where a path or URL out of a row is, if the row may name it.

    A relative path is relative to the folder of ``origin``. A local path must lie in that folder, after ``..`` and
    links are resolved; a URL must have the scheme and the host or bucket of ``origin``. Anything else must lie below
    one of ``allowed``. A chain of filesystems (``::``) is never opened, nor a scheme that wraps another file.

    >>> check_location("clips/a.wav", origin="s3://speech/v1/train.jsonl").path
    's3://speech/v1/clips/a.wav'
    >>> check_location("s3://voices/a.wav", origin="s3://speech/train.jsonl", allowed=["s3://voices/"]).path
    's3://voices/a.wav'

    Args:
        value: As it stands in the row.
        origin: File that the row was read from; None where the row does not say, so that only ``allowed`` counts.
        allowed: Folders or URL prefixes that may be read as well.

    Raises:
        LocationError: The row may not name it; says which parameter would allow it.
    """
    origin = origin or None
    if origin is not None and value == origin:
        return Location(value, is_listed=True)
    base = None if origin is None else _origin_place(origin)
    place = _place_of(value, origin, base)
    is_allowed = any(_holds(_allowed_place(each), place) for each in allowed)
    if is_allowed or _is_at_home(place, base):
        return Location(place.url, is_allowed=is_allowed)
    raise _refusal(value, place, origin)


def check_allowed_locations(stage: str, allowed: Iterable[str] | None) -> tuple[str, ...]:
    """Return the entries of the parameter ``allowed_locations``.

    >>> check_allowed_locations("audio.read_manifest", ["/corpus", "s3://bucket/sounds"])
    ('/corpus', 's3://bucket/sounds')

    Raises:
        ConfigError: An entry is not a folder, a file or a URL of a known scheme.
    """
    entries = tuple(allowed or ())
    try:
        for each in entries:
            _allowed_place(each)
    except LocationError as error:
        raise ConfigError(
            f"{stage}: an entry of allowed_locations cannot be used: {error.message}",
            fix="give folders such as /corpus, or URLs such as s3://bucket/prefix and https://host/",
        ) from error
    return entries


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or lies in it; both absolute, without ``..``.

    >>> is_below("/data/a/b", "/data/a"), is_below("/data/ab", "/data/a"), is_below("/data", "/")
    (True, False, True)
    """
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _place_of(value: str, origin: str | None, base: _Place | None) -> _Place:
    _check_text(value)
    if "://" in value:
        return _parse(value)
    if origin is None or os.path.isabs(value):
        return _Place("", "", os.path.abspath(value))
    if base is None:
        raise LocationError(f"{value!r} cannot be found beside {origin!r}: that is a file inside another one")
    if not base.scheme:
        return _Place("", "", os.path.abspath(os.path.join(os.path.dirname(base.path), value)))
    return _resolved(base.scheme, base.authority, posixpath.join(posixpath.dirname(base.path), value), value)


def _check_text(value: str) -> None:
    if not value.strip():
        raise LocationError("the name of the file is empty")
    if _CONTROL.search(value):
        raise LocationError(f"{value!r} is not the name of a file: it has control characters")
    if "::" in value:
        raise LocationError(f"{value!r} is a chain of filesystems ('::'), which data must not name")


def _parse(value: str) -> _Place:
    """Parse a URL strictly: what two parsers could read in two ways is refused."""
    scheme, _, rest = value.partition("://")
    scheme = scheme.lower()
    if scheme == "file":
        if not rest.startswith("/"):
            raise LocationError(f"{value!r} names another machine; write file:///path or the plain path")
        return _Place("", "", os.path.abspath(rest))
    if scheme not in HOST_SCHEMES | _BUCKET_SCHEMES:
        raise LocationError(f"{value!r} has the scheme {scheme!r}, which data must not name")
    authority, _, path = rest.partition("/")
    is_host = scheme in HOST_SCHEMES
    if not (_HOST if is_host else _BUCKET).fullmatch(authority):
        raise LocationError(
            f"{value!r} has {authority!r} in the place of a {'host' if is_host else 'bucket'}; "
            "names in ASCII are taken, without user, password or brackets"
        )
    return _resolved(scheme, authority.lower() if is_host else authority, f"/{path}", value)


def _resolved(scheme: str, authority: str, path: str, value: str) -> _Place:
    """Resolve ``.`` and ``..``, which must not lead out of the host or bucket."""
    path, mark, query = path.partition("?") if scheme in HOST_SCHEMES else (path, "", "")
    parts: list[str] = []
    for part in path.split("/")[1:]:
        if part == "..":
            if not parts:
                raise LocationError(f"{value!r} climbs out of {scheme}://{authority}/")
            parts.pop()
        elif part != ".":
            parts.append(part)
    if ".." in re.split(r"[/\\]", unquote("/".join(parts))):  # %2e%2e, which servers resolve
        raise LocationError(f"{value!r} has '..' in disguise")
    return _Place(scheme, authority, "/" + "/".join(parts) + mark + query)


def _origin_place(origin: str) -> _Place | None:
    """Return the place of a file that the pipeline itself named; None for a chain. A URL is taken as it is."""
    if "://" not in origin or origin.startswith("file://"):
        return _Place("", "", os.path.abspath(origin.removeprefix("file://")))
    scheme, _, rest = origin.partition("://")
    scheme = scheme.lower()
    if "::" in origin or scheme not in HOST_SCHEMES | _BUCKET_SCHEMES:
        return None
    authority, _, path = rest.partition("/")
    return _Place(scheme, authority, f"/{path.partition('?')[0] if scheme in HOST_SCHEMES else path}")


def _is_at_home(place: _Place, base: _Place | None) -> bool:
    if base is None or (place.scheme, _without_user(place)) != (base.scheme, _without_user(base)):
        return False
    if not base.scheme:
        return is_below(os.path.realpath(place.path), os.path.realpath(os.path.dirname(base.path)))
    return base.scheme not in _FOLDER_SCHEMES or is_below(place.path, posixpath.dirname(base.path))


def _without_user(place: _Place) -> str:
    return place.authority.rpartition("@")[2].lower() if place.scheme in HOST_SCHEMES else place.authority


def _allowed_place(entry: str) -> _Place:
    _check_text(entry)
    if "://" in entry:
        return _parse(entry)
    return _Place("", "", os.path.abspath(os.path.expanduser(entry)))


def _holds(allowed: _Place, place: _Place) -> bool:
    if (allowed.scheme, allowed.authority) != (place.scheme, _without_user(place)):
        return False
    if allowed.scheme:
        return is_below(place.path.partition("?")[0], allowed.path)
    return is_below(os.path.realpath(place.path), os.path.realpath(allowed.path))


def _refusal(value: str, place: _Place, origin: str | None) -> LocationError:
    if place.scheme:
        wanted = f"{place.scheme}://{_without_user(place)}/"
    else:
        wanted = os.path.dirname(os.path.realpath(place.path))
    home = (
        "the row does not say which file it was read from (it has no '_source')"
        if origin is None
        else f"the row was read from {origin!r}"
    )
    return LocationError(
        f"{value!r} is not opened, because {home}; to allow it, set allowed_locations: [{wanted!r}] on this stage"
    )
