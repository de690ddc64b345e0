"""Ask the nodes of a cluster how much memory their GPUs have."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from curator_core.executors.ray.cluster import import_ray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_core.executors.ray.cluster import NodeResources

__all__ = ["measure_gpus", "smallest_gpu_gb"]

_PATIENCE_S = 30.0
_MEBIBYTES_PER_GB = 1e9 / 2**20


def measure_gpus(nodes: Sequence[NodeResources]) -> tuple[NodeResources, ...]:
    """Return the nodes with the memory of their GPUs filled in, where they can tell.

    Asks the nodes themselves: the driver's GPUs, if it has any, say nothing about them.
    """
    ray = import_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ask = ray.remote(num_cpus=0)(smallest_gpu_gb)
    answers = {
        node.node_id: ask.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node.node_id, soft=False)).remote()
        for node in nodes
        if node.gpus
    }
    ready, _ = ray.wait(list(answers.values()), num_returns=len(answers), timeout=_PATIENCE_S) if answers else ([], [])
    found = {node_id: ray.get(answer) for node_id, answer in answers.items() if answer in ready}
    return tuple(replace(node, gpu_memory_gb=found.get(node.node_id)) for node in nodes)


def smallest_gpu_gb() -> float | None:
    """Return the memory of this machine's smallest GPU, None where it cannot tell."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return None
    query = [command, "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, check=True, timeout=_PATIENCE_S)  # noqa: S603 - fixed arguments
        return min(float(line) for line in answer.stdout.splitlines() if line.strip()) / _MEBIBYTES_PER_GB
    except (subprocess.SubprocessError, ValueError):
        return None
