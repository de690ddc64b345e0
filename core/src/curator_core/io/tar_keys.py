"""Keys and extensions: what may be the name of a member of a tar archive, and is read back as it was.

As in WebDataset, the key of a sample is the path of its members up to the first dot of their base name. Keys say where
a file is in the folder that was read, and never where that folder is: not its path, its host, nor what opens it.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

from curator_core.errors import DataError
from curator_core.tasks import SOURCE_COLUMN

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from curator_core.io.paths import FileEntry
    from curator_core.tasks import TableBatch

__all__ = ["check_extension", "checked_key", "extension_of_uri", "key_of_uri", "keys_of_files", "keys_of_rows"]

_MAX_NAME_BYTES = 1024
_DIGEST_BYTES = 4


def checked_key(key: str | None, seen: Container[str] = ()) -> str:
    """Return a key, but refuse what cannot be the key of a sample.

    >>> checked_key("photos/0001")
    'photos/0001'

    Args:
        key: The key.
        seen: Keys that other samples of the archive have.

    Raises:
        DataError: It is missing, taken, leads out of the archive, or would be read back as another.
    """
    if not key:
        raise DataError("the row has no key")
    parts = key.split("/")
    if ".." in parts or key.startswith(("/", "./")) or not parts[-1] or not key.isprintable():
        raise DataError(f"the key {key[:200]!r} cannot be the name of a member of a tar archive")
    if "." in parts[-1]:
        raise DataError(f"the key {key[:200]!r} has a dot, and would be read back only up to there")
    if len(key.encode("utf-8", "surrogatepass")) > _MAX_NAME_BYTES:
        raise DataError(f"the key {key[:200]!r}… is longer than {_MAX_NAME_BYTES:,} bytes")
    if key in seen:
        raise DataError(f"the key {key!r} is there twice; give every row a key of its own")
    return key


def check_extension(extension: str) -> None:
    """Refuse what cannot be the extension of a member.

    Raises:
        DataError: It is empty, or has a slash or a leading dot.
    """
    if not extension or extension.startswith(".") or "/" in extension or not extension.isprintable():
        raise DataError(f"{extension[:200]!r} cannot be the extension of a member of a tar archive: say jpg, not .jpg")


def keys_of_files(entries: Sequence[FileEntry]) -> list[str]:
    """Return a key for each of the files that were listed together, no two of them alike.

    It is the path below the folder that was asked for, without the extension. Files that would share a key, because
    they differ in their extensions only or come from two folders, get eight more digits each, made of that path and the
    folder's place among those asked for: they are the same wherever the folders are.

    >>> from curator_core.io.paths import FileEntry
    >>> names = ["a/cat.v2.jpg", "a/dog.jpg", "a/dog.heic"]
    >>> keys_of_files([FileEntry(f"/mnt/photos/{name}", 1, root="/mnt/photos/") for name in names])
    ['a/cat_v2', 'a/dog-01c75edf', 'a/dog-9d2b4864']
    """
    keys = [_key_of_path(entry.name) for entry in entries]
    counts = Counter(keys)
    roots: dict[str, int] = {}
    for at, entry in enumerate(entries):
        root = roots.setdefault(entry.root, len(roots))
        if counts[keys[at]] > 1:
            keys[at] = f"{keys[at]}-{_digest(f'{root}/{entry.name}')}"
    return keys


def keys_of_rows(batch: TableBatch, *, key_field: str = "key", uri_field: str = "uri") -> list[str | None]:
    """Return the keys of rows: those they have, else what :func:`key_of_uri` makes of the files that they name.

    Raises:
        StageError: They have neither.
    """
    if key_field in batch.columns or uri_field not in batch.columns:
        batch.check_column(key_field)
        return [None if key is None else str(key) for key in batch.data.column(key_field).to_pylist()]
    uris = batch.data.column(uri_field).to_pylist()
    sources = [None] * len(uris)
    if SOURCE_COLUMN in batch.columns:
        sources = batch.data.column(SOURCE_COLUMN).to_pylist()
    return [key_of_uri(uri, source) for uri, source in zip(uris, sources, strict=True)]


def key_of_uri(uri: str | None, source: str | None = None) -> str | None:
    """Return a key for a file that a row names.

    It is the path below the folder of the file in which the row stands. A file elsewhere gets its base name and eight
    digits, made of all of its address but what opens it (user, password, query).

    >>> key_of_uri("s3://photos/2024/cat.v2.jpg", "s3://photos/list.jsonl"), key_of_uri("2024/cat.jpg")
    ('2024/cat_v2', '2024/cat')
    >>> key_of_uri("https://me:secret@host/cat.jpg?token=secret")
    'cat-38608f8e'

    Args:
        uri: Path or URL.
        source: File that the row was read from.
    """
    if not uri:
        return None
    address = _address(uri)
    folder = posixpath.dirname(_address(source)) if source and source != uri else None
    if folder and address.startswith(f"{folder}/"):
        address = address[len(folder) + 1 :]
    is_elsewhere = "://" in address or address.startswith(("/", "~")) or _DRIVE.match(address)
    if is_elsewhere or ".." in address.split("/"):
        chain = "::".join(_without_secrets(part) for part in uri.split("::"))
        return f"{_key_of_path(posixpath.basename(address))}-{_digest(chain)}"
    return _key_of_path(posixpath.normpath(address))


def extension_of_uri(uri: str | None) -> str | None:
    """Return the extension of a file, without its dot.

    >>> extension_of_uri("https://host/cat.v2.jpg?size=5"), extension_of_uri("README")
    ('jpg', None)
    """
    return posixpath.splitext(_address(uri or ""))[1].lstrip(".") or None


_DRIVE = re.compile(r"[A-Za-z]:")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)(?:[^/@]*@)?(?P<rest>.*)", re.DOTALL)


def _address(uri: str) -> str:
    """Return the part of a chain (``zip://cat.jpg::photos.zip``) that names the file itself, without what opens it."""
    parts = uri.split("::")
    return _without_secrets(next((part for part in parts if "://" in part), parts[0]))


def _without_secrets(address: str) -> str:
    """Return a path or URL without user, password and query, and with slashes only."""
    found = _URL.match(address)
    if found is None:
        return address.replace("\\", "/") if _DRIVE.match(address) else address
    scheme, rest = found["scheme"].lower(), found["rest"]
    if scheme in ("http://", "https://"):  # elsewhere these may be parts of names
        rest = re.split("[?#]", rest, maxsplit=1)[0]
    return rest if scheme == "file://" else scheme + rest


def _key_of_path(path: str) -> str:
    """Return a path without its extension, and without what means something else in archives or on other systems."""
    folder, name = posixpath.split(posixpath.splitext(path)[0])
    key = posixpath.join(folder, name.replace(".", "_")).replace("\\", "_")
    return f"{key[0]}_{key[2:]}" if _DRIVE.match(key) else key


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
