"""Read single bytes of an array without a check of the position."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["byte_at"]


def _byte_at(typing_context, data, at):
    """Return the byte at a position that is known to be inside: numba's own indexing also serves negative ones."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        value = builder.load(cgutils.gep_inbounds(builder, array.data, arguments[1]))
        return builder.zext(value, context.get_value_type(types.int64))

    return types.int64(data, types.int64), generate


byte_at: Any = intrinsic(_byte_at)
"""``byte_at(data, at)`` in a kernel is ``data[at]`` as an integer of 64 bits; ``at`` must be inside."""
