"""A node of the cluster as the scheduler sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator_core.executors.streaming.engine.model import Node

if TYPE_CHECKING:
    from curator_core.executors.ray.cluster import NodeResources

__all__ = ["engine_node"]


def engine_node(node: NodeResources) -> Node:
    """Return what the scheduler has to know about a node."""
    return Node(
        node.node_id,
        cpus=node.cpus,
        gpus=int(node.gpus),
        gpu_memory_gb=node.gpu_memory_gb,
        memory_bytes=node.memory_bytes,
        custom=dict(node.custom),
    )
