"""Tell a machine that is short of memory from a file that asks for absurd amounts of it."""

from __future__ import annotations

import re

from curator_core.io.filesystems import is_transient
from curator_core.io.limits import Limits

__all__ = ["is_data_error"]

_ALLOCATION = re.compile(r"of size (\d+) failed")


def is_data_error(error: BaseException, *, file_bytes: int | None, limits: Limits | None = None) -> bool:
    """Whether an error of Arrow is about the file, so that repeating the call would not help.

    An allocation that fails is about the file where it is larger than anything a file of that size may expand to: a
    damaged length field asks for exabytes.

    >>> is_data_error(MemoryError("malloc of size 288230376151711744 failed"), file_bytes=1000)
    True
    >>> is_data_error(MemoryError("malloc of size 4096 failed"), file_bytes=1000)
    False
    """
    if not is_transient(error):
        return True
    claim = _ALLOCATION.search(str(error)) if isinstance(error, MemoryError) else None
    limits = limits or Limits()
    allowed = max(limits.expansion_floor_bytes, limits.max_expansion * (file_bytes or 0))
    return claim is not None and int(claim[1]) > allowed
