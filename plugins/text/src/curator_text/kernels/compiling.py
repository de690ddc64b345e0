"""How the kernels of this package are compiled: once a machine, into the user's cache."""

from __future__ import annotations

from pathlib import Path

from curator_core.sdk import KernelCache, inlined

__all__ = ["cache_folder", "compile_once", "inlined", "kernel"]

_cache = KernelCache("text", Path(__file__).parent)
kernel = _cache.kernel
compile_once = _cache.compile_once


def cache_folder() -> Path:
    """Return the folder for the compiled form of these very sources; it exists."""
    return _cache.folder
