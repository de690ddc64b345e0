"""Check names of members of a tar archive, so that they are read back unchanged.

As in WebDataset, the key of a sample is the path of its members up to the first dot of their base name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.sdk import DataError

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["check_extension", "checked_key"]

_MAX_NAME_BYTES = 1024


def checked_key(key: str | None, seen: Container[str] = ()) -> str:
    """Return a key, and refuse one that cannot be the key of a sample.

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
    """Refuse a text that cannot be the extension of a member.

    Raises:
        DataError: It is empty, or has a slash or a leading dot.
    """
    if not extension or extension.startswith(".") or "/" in extension or not extension.isprintable():
        raise DataError(f"{extension[:200]!r} cannot be the extension of a member of a tar archive: say jpg, not .jpg")
