"""Where the payloads of source tasks are until a worker has them: small ones travel in the call itself."""

from __future__ import annotations

from typing import Any

from curator_core.executors.ray.cluster import import_ray
from curator_core.executors.streaming.shell.chunk_codec import Payload

__all__ = ["fetch", "keep"]

_INLINE_BYTES = 64 << 10  # Ray sends arguments of up to 100 KiB along with a call


def keep(payload: Payload, size_bytes: int) -> Any:
    """Return a handle that calls can be given: the payload itself where it is small, a reference otherwise.

    What a driver puts goes to the object store however small it is, and costs a call twice the time to get from there.
    """
    return payload if size_bytes <= _INLINE_BYTES else import_ray().put(payload)


def fetch(handle: Any) -> Payload:
    """Return the payload behind a handle."""
    payload: Payload = handle if isinstance(handle, Payload) else import_ray().get(handle)
    return payload
