"""What all stages with a transformer have in common: how to load it and how to feed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.sdk import ConfigError

if TYPE_CHECKING:
    from curator_core.sdk import Precision

__all__ = ["ModelSettings"]


_CPU_TOKENS = 2_048
_GPU_TOKENS = 32_768


@dataclass(frozen=True)
class ModelSettings:
    """How a model is loaded and fed.

    Args:
        device: ``auto``, or a device of torch.
        precision: Arithmetic on CUDA.
        model_batch_size: Most rows in one call of the model.
        max_tokens_per_batch: Most tokens, padding included, in one call of the model; chosen by device unless given.
        allow_pickle: Load weights that are pickles.
        trust_remote_code: Run Python code that comes with the model.
    """

    device: str = "auto"
    precision: Precision = "auto"
    model_batch_size: int = 256
    max_tokens_per_batch: int | None = None
    allow_pickle: bool = False
    trust_remote_code: bool = False

    def check(self, stage: str) -> None:
        """Refuse sizes that cannot be meant.

        Raises:
            ConfigError: A size is less than one.
        """
        for name in ("model_batch_size", "max_tokens_per_batch"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{stage}: {name} must be at least 1, got {value}")

    def tokens_per_batch(self, device_type: str) -> int:
        """Return the most tokens in one call of the model on a device.

        A GPU wants large batches. A CPU computes no faster with them, and pads more.
        """
        return self.max_tokens_per_batch or (_CPU_TOKENS if device_type == "cpu" else _GPU_TOKENS)
