"""Packages that are expensive to import, and therefore must not load while plugins are only listed."""

from __future__ import annotations

import sys

__all__ = ["HEAVY_MODULES", "loaded_heavy_modules"]

HEAVY_MODULES = frozenset(
    {
        "PIL",
        "av",
        "cv2",
        "jax",
        "librosa",
        "numba",
        "numpy",
        "onnxruntime",
        "pandas",
        "polars",
        "pyarrow",
        "pydantic",
        "ray",
        "scipy",
        "sklearn",
        "soundfile",
        "tensorflow",
        "torch",
        "transformers",
        "vllm",
    }
)


def loaded_heavy_modules() -> frozenset[str]:
    """Return the heavy packages that this process has imported so far."""
    return HEAVY_MODULES.intersection(sys.modules)
