"""Calls that ran out of memory: how to tell, and how to make room before trying with less."""

from __future__ import annotations

import gc
import sys
import traceback

__all__ = ["is_out_of_memory", "release_memory"]

_CLASS_NAME = "OutOfMemoryError"  # torch.cuda, torch, cupy, each a class of its own
_MESSAGES = ("CUDA out of memory", "RESOURCE_EXHAUSTED")  # older torch and jax raise errors of no special class


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether a call failed because its input was too large for the memory, of the machine or of a GPU.

    Decided by name, because the libraries that raise such errors must not be imported to ask.

    >>> is_out_of_memory(MemoryError()), is_out_of_memory(RuntimeError("CUDA out of memory. Tried to …"))
    (True, True)
    """
    if isinstance(error, MemoryError) or any(each.__name__ == _CLASS_NAME for each in type(error).__mro__):
        return True
    return isinstance(error, RuntimeError) and any(each in str(error) for each in _MESSAGES)


def release_memory(error: BaseException) -> None:
    """Let go of what the failed call held: its local variables, garbage, and the GPU memory that torch keeps."""
    traceback.clear_frames(error.__traceback__)
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
