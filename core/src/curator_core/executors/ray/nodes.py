"""The machines of a cluster: what each has, and how much memory its GPUs have."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray import import_ray
from curator_core.executors.ray.internals import head_node_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["NodeResources", "list_nodes", "measure_gpus", "smallest_gpu_gb"]

_PATIENCE_S = 30.0
_MEBIBYTES_PER_GB = 1e9 / 2**20


@dataclass(frozen=True)
class NodeResources:
    """What one machine of the cluster has in all, used or not.

    Args:
        node_id: Ray's id of the node.
        cpus: Logical CPUs.
        gpus: Logical GPUs.
        memory_bytes: Main memory for workers, without the object store.
        gpu_memory_gb: Memory of its smallest GPU, once :func:`measure_gpus` has asked.
        custom: Named resources.
        is_head: Whether it is the cluster's head.
    """

    node_id: str
    cpus: float
    gpus: float = 0.0
    memory_bytes: int = 0
    gpu_memory_gb: float | None = None
    custom: Mapping[str, float] = field(default_factory=dict)
    is_head: bool = False


def list_nodes() -> tuple[NodeResources, ...]:
    """Return the machines that are alive, the head first."""
    alive = [node for node in import_ray().nodes() if node["Alive"]]
    heads = head_node_ids(alive)
    nodes = [_node_resources(node, is_head=node["NodeID"] in heads) for node in alive]
    return tuple(sorted(nodes, key=lambda node: (not node.is_head, node.node_id)))


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


def _node_resources(node: Mapping[str, Any], *, is_head: bool) -> NodeResources:
    found = dict(node["Resources"])
    found.pop("object_store_memory", None)
    return NodeResources(
        node_id=node["NodeID"],
        cpus=found.pop("CPU", 0.0),
        gpus=found.pop("GPU", 0.0),
        memory_bytes=int(found.pop("memory", 0)),
        custom={name: amount for name, amount in found.items() if not name.startswith("node:")},
        is_head=is_head,
    )
