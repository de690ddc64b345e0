"""Keys of files: short names that say which file a row is about, fit to be written out again.

A key says where a file is in the folder that was read, and never where that folder is: not its path, its host, nor what
opens it. It has no dot in its last part, so that it can be the name of a sample in a tar archive.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

from curator_core.authoring.tasks import SOURCE_COLUMN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.authoring.tasks import TableBatch
    from curator_core.files.paths import FileEntry

__all__ = ["extension_of_uri", "key_of_uri", "keys_of_files", "keys_of_rows"]

_DIGEST_BYTES = 4


def keys_of_files(entries: Sequence[FileEntry]) -> list[str]:
    """Return a key for each of the files that were listed together, no two of them alike.

    It is the path below the folder that was asked for, without the extension. Files that would share a key, because
    they differ in their extensions only or come from two folders, get eight more digits each, made of that path and the
    folder's place among those asked for: they are the same wherever the folders are.

    >>> from curator_core.files.paths import FileEntry
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


def keys_of_rows(batch: TableBatch, *, key_column: str = "key", uri_column: str = "uri") -> list[str | None]:
    """Return the keys of rows: those they have, else what :func:`key_of_uri` makes of the files that they name.

    >>> from curator_core import TableBatch
    >>> keys_of_rows(TableBatch(data={"key": ["cats/1", None]}))
    ['cats/1', None]

    Raises:
        StageError: They have neither.
    """
    if key_column in batch.columns or uri_column not in batch.columns:
        batch.check_column(key_column)
        return [None if key is None else str(key) for key in batch.data.column(key_column).to_pylist()]
    uris = batch.data.column(uri_column).to_pylist()
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
