"""How the kernels of deduplication are compiled: once a machine, into the user's cache."""

from __future__ import annotations

from pathlib import Path

from curator_core.sdk import KernelCache, inlined

__all__ = ["compile_once", "inlined", "kernel"]

_cache = KernelCache("dedup", Path(__file__).parent)
kernel = _cache.kernel
compile_once = _cache.compile_once
