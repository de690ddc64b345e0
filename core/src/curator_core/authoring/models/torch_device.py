"""Where a model runs: the device, the precision of its arithmetic, its threads."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Literal

from curator_core.values.errors import StageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import torch

    from curator_core.authoring.stage import WorkerInfo
    from curator_core.values.resources import Resources

__all__ = ["Precision", "autocast_for", "choose_device", "may_use_gpu"]

Precision = Literal["auto", "float32", "bfloat16", "float16"]


def may_use_gpu(resources: Resources, worker: WorkerInfo | None) -> bool:
    """Return whether a worker may take a GPU that it sees: it was given one, or there is nobody to give any.

    Ray can be told to show all GPUs to workers that were given none.
    """
    return resources.uses_gpu or worker is None or worker.worker_id == "local"


def choose_device(device: str, *, stage: str, gpu_allowed: bool = True) -> torch.device:
    """Return the device called ``device``; for ``auto``, the GPU that this worker was given, or else the CPU.

    Args:
        device: ``auto``, or a device of torch.
        stage: Name of the stage, for messages.
        gpu_allowed: Whether ``auto`` may choose a GPU.

    Raises:
        StageError: There is no such device here.
    """
    import torch

    if device == "auto":
        if not gpu_allowed:
            return torch.device("cpu")
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise StageError(
            f"{stage}: device {device!r} cannot be used here: {str(error).splitlines()[0]}",
            fix="use device: auto, or give the stage a GPU: with: {resources: {gpus: 1}}",
        ) from error
    return chosen


def autocast_for(device: torch.device, precision: Precision) -> AbstractContextManager[object]:
    """Return the context in which a model computes: reduced precision on CUDA only, elsewhere that of the weights."""
    import torch

    if device.type != "cuda" or precision == "float32":
        return nullcontext()
    if precision == "auto":
        precision = "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
    context: AbstractContextManager[object] = torch.autocast("cuda", dtype=getattr(torch, precision))
    return context
