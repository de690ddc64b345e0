"""How a speech model is loaded and fed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curator_core.sdk import Precision

__all__ = ["AsrSettings"]


@dataclass(frozen=True, slots=True)
class AsrSettings:
    """How a speech model is loaded and fed.

    Args:
        language: Language that is spoken, for models that ask.
        chunk_s: Longest part of a recording that the model hears at once.
        model_batch_size: Most parts in one call of the model.
        max_new_tokens: Most tokens that it writes for a part.
        device: ``auto``, or a device of torch.
        precision: Arithmetic on CUDA.
        allow_pickle: Load weights that are pickles.
        trust_remote_code: Run Python code that comes with the model.
    """

    language: str | None = None
    chunk_s: float = 30.0
    model_batch_size: int = 8
    max_new_tokens: int | None = None
    device: str = "auto"
    precision: Precision = "auto"
    allow_pickle: bool = False
    trust_remote_code: bool = False
