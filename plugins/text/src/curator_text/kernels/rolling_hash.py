"""Hash bytes one at a time to 64 bits, on the way through a text.

Equal hashes are taken for equal bytes. Among a million lines of one document the chance that any two differ and collide
is about one in 37 million.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"
# numba reads these functions; their types are those of the arrays they are called with.
from __future__ import annotations

import numpy as np

from curator_text.kernels.compiling import inlined

__all__ = ["SEED", "finish", "mix"]

SEED = np.uint64(0xCBF29CE484222325)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_LAST = np.uint64(0xFF51AFD7ED558CCD)


@inlined
def mix(hashed, value):
    """Return the hash of what was hashed so far and one more byte, or hash."""
    return (hashed ^ np.uint64(value)) * _STEP


@inlined
def finish(hashed):
    """Return a hash with all its bits mixed, of which the lowest can be used alone."""
    hashed = (hashed ^ (hashed >> np.uint64(32))) * _LAST
    return hashed ^ (hashed >> np.uint64(29))
