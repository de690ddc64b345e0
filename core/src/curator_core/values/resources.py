"""What one worker of a stage needs: a pure value, resolved against the cluster's nodes by the scheduler."""

from __future__ import annotations

import math
from collections.abc import Mapping  # noqa: TC003 - read at run time when a pipeline file gives resources
from dataclasses import dataclass, field, replace

from curator_core.values.errors import ConfigError

__all__ = ["Resources"]


@dataclass(frozen=True)
class Resources:
    """Resources of one worker of a stage.

    >>> Resources(gpus=0.25).uses_gpu
    True
    >>> Resources(gpu_memory_gb=10).gpu_fraction(40)
    0.25

    Args:
        cpus: CPU cores; fractions are allowed.
        gpus: GPUs; a fraction below 1 shares one GPU, above 1 it must be whole.
        gpu_memory_gb: Memory on one GPU, as an alternative to ``gpus``; becomes a fraction of a node's GPU.
        memory_gb: Main memory.
        custom: Further named resources of the cluster.
        gpu_optional: Do without ``gpus`` where the cluster has none: a stage that runs on either.
    """

    cpus: float = 1.0
    gpus: float = 0.0
    gpu_memory_gb: float = 0.0
    memory_gb: float = 0.0
    custom: Mapping[str, float] = field(default_factory=dict, hash=False)
    gpu_optional: bool = False

    def __post_init__(self) -> None:
        custom = {f"custom[{key!r}]": value for key, value in self.custom.items()}
        for name, amount in {**self._amounts(), **custom}.items():
            if isinstance(amount, bool) or not isinstance(amount, (int, float)):
                raise ConfigError(f"Resources: {name} must be a number, got {amount!r}")
            if not math.isfinite(amount) or amount < 0:
                raise ConfigError(f"Resources: {name} must be zero or more and finite, got {amount!r}")
        if self.gpus and self.gpu_memory_gb:
            raise ConfigError(
                "Resources: gpus and gpu_memory_gb exclude each other",
                fix="give gpus (a count or a fraction of one GPU) or gpu_memory_gb (memory on one GPU), not both",
            )
        if self.gpus > 1 and self.gpus != int(self.gpus):
            raise ConfigError(
                f"Resources: gpus={self.gpus} is neither a fraction of one GPU nor a whole number of GPUs",
                fix="use a value up to 1, or a whole number",
            )

    @property
    def uses_gpu(self) -> bool:
        """Whether a worker needs a GPU or a part of one."""
        return bool(self.gpus or self.gpu_memory_gb)

    def without_optional_gpu(self) -> Resources:
        """Return what a worker needs where there is no GPU.

        >>> Resources(cpus=2, gpus=1, gpu_optional=True).without_optional_gpu().describe()
        'cpus=2'
        """
        return replace(self, gpus=0.0, gpu_memory_gb=0.0, gpu_optional=False) if self.gpu_optional else self

    def gpu_fraction(self, gpu_size_gb: float) -> float:
        """Return the GPUs one worker takes on a node whose GPUs have ``gpu_size_gb`` each."""
        if not self.gpu_memory_gb:
            return self.gpus
        if self.gpu_memory_gb > gpu_size_gb:
            raise ConfigError(
                f"Resources: gpu_memory_gb={self.gpu_memory_gb} does not fit on a GPU of {gpu_size_gb} GB"
            )
        return self.gpu_memory_gb / gpu_size_gb

    def describe(self) -> str:
        """Return the non-zero parts on one line.

        >>> Resources(cpus=2, gpus=0.5).describe()
        'cpus=2 gpus=0.5'
        """
        parts = {**self._amounts(), **self.custom}
        return " ".join(f"{name}={amount:g}" for name, amount in parts.items() if amount) or "none"

    def _amounts(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in ("cpus", "gpus", "gpu_memory_gb", "memory_gb")}
