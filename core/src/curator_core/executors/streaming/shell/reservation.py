"""Share a cluster with other runs and jobs: reserve what a run uses, leave alone what others have."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from curator_core.executors.ray import import_ray
from curator_core.executors.ray.internals import free_resources
from curator_core.executors.ray.nodes import measure_gpus
from curator_core.executors.streaming.engine.model import Node
from curator_core.executors.streaming.engine.placement import Placement
from curator_core.executors.streaming.engine.run_share import held_names, run_share
from curator_core.executors.streaming.engine.tuning import Tuning
from curator_core.values.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.executors.ray.nodes import NodeResources
    from curator_core.executors.streaming.engine.model import Held, StepSpec

__all__ = ["Reservation", "free_part"]

_log = logging.getLogger(__name__)

_NODE_LABEL = "ray.io/node-id"
_taking = threading.Lock()  # runs of one process look and reserve one after the other

Free = dict[str, dict[str, float]]


class Reservation:
    """What a run may use of a cluster, reserved in a placement group for each node.

    CPUs are leased to workers inside the run. Workers that hold GPUs, memory or custom resources take them from the
    group of their node, so that no other job gets them between two workers.

    With ``with_cpus``, CPUs are reserved, too. On a Ray of its own they are not: runs of one process share them.
    """

    def __init__(self, steps: Sequence[StepSpec], *, with_cpus: bool, tuning: Tuning = Tuning()) -> None:
        self._tuning = tuning
        self._steps = steps
        self._with_cpus = with_cpus
        self._names = {name for step in steps for name in held_names(step.held)}
        # By node. Where nothing that workers hold was reserved at first, a second group may have that.
        self._groups: dict[str, list[Any]] = defaultdict(list)
        self._nodes: list[NodeResources] = []

    def close(self) -> None:
        """Give everything back."""
        for node_id in list(self._groups):
            self.release(node_id)

    def release(self, node_id: str) -> None:
        """Give back what is reserved on a node, because the run or the node has ended."""
        from ray.util import remove_placement_group

        self._nodes = [node for node in self._nodes if node.node_id != node_id]
        for group in self._groups.pop(node_id, ()):
            remove_placement_group(group)

    def take(self, nodes: Sequence[NodeResources]) -> list[NodeResources]:
        """Reserve what the run can use; return the nodes with that.

        Raises:
            ClusterError: Less is free than one worker of a stage needs, or others were faster.
        """
        if not (self._with_cpus or self._names):
            return list(nodes)
        with _taking:
            deadline_s = time.monotonic() + self._tuning.reserve_patience_s
            left = self._enough_for_each(nodes)
            while left and time.monotonic() < deadline_s:
                wanted = run_share(self._steps, left, had=self._nodes)
                got = self._reserve(wanted, min(self._tuning.reserve_again_s, deadline_s - time.monotonic()))
                self._nodes += got
                refused = {node.node_id for node in wanted} - {node.node_id for node in got}
                again = [node for node in nodes if node.node_id in refused]
                left = self._left(again, free_resources()) if again else []
        if left:
            _log.warning(
                "%d of %d nodes are not used: other jobs reserved their resources first", len(left), len(nodes)
            )
        self._check(self._nodes)
        unused = [replace(node, cpus=0.0, gpus=0, memory_bytes=0, custom={}) for node in left]
        return [*self._nodes, *unused]

    def measured(self, nodes: Sequence[NodeResources]) -> Sequence[NodeResources]:
        """Return nodes that have joined, with the memory of their GPUs if workers hold any; none if one cannot say."""
        if not nodes or not any(step.held.gpu_memory_gb for step in self._steps):
            return nodes
        try:
            return measure_gpus(nodes)
        except import_ray().exceptions.RayError:  # it has left again
            return ()

    def extend(self, node: NodeResources) -> NodeResources:
        """Return a node that has joined with what the run may use of it, reserved where Ray allows it."""
        deadline_s = time.monotonic() + self._tuning.release_s
        while True:
            left = free_part(node, free_resources().get(node.node_id))
            if left.cpus or time.monotonic() > deadline_s:
                break
            time.sleep(self._tuning.release_look_s)
        [part] = run_share(self._steps, [left], had=self._nodes)
        self._nodes.append(part)
        self._reserve([part], self._tuning.reserve_one_s)
        return part

    def make_up(self, nodes: Sequence[NodeResources]) -> list[NodeResources]:
        """Reserve elsewhere what workers held on nodes that were lost; return the nodes that have more than before.

        Nodes on which nothing that workers hold is reserved are asked, each for all that the run lacks.

        Args:
            nodes: The nodes in use, whole.
        """
        grown = []
        for node in nodes if self._names else ():
            before = next((each for each in self._nodes if each.node_id == node.node_id), None)
            if before is None or self._holds_any(before):
                continue
            left = free_part(node, free_resources().get(node.node_id))
            left = replace(left, cpus=before.cpus, gpu_memory_gb=before.gpu_memory_gb)
            [part] = run_share(self._steps, [left], had=[each for each in self._nodes if each is not before])
            if not self._holds_any(part):
                continue
            after = replace(before, gpus=part.gpus, memory_bytes=part.memory_bytes, custom=part.custom)
            if self._reserve([replace(after, cpus=0.0)], self._tuning.reserve_one_s):
                self._nodes[self._nodes.index(before)] = after
                grown.append(after)
        return grown

    def _holds_any(self, node: NodeResources) -> bool:
        return bool(self._bundle(replace(node, cpus=0.0)))

    def strategy(self, node_id: str, held: Held) -> Any:
        """Return where Ray is to start a worker: on a node, within what is reserved there if the worker holds any."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

        groups = self._groups.get(node_id)
        if held and groups:
            return PlacementGroupSchedulingStrategy(groups[-1], placement_group_bundle_index=0)
        return NodeAffinitySchedulingStrategy(node_id, soft=False)

    # Look

    def _enough_for_each(self, nodes: Sequence[NodeResources]) -> list[NodeResources]:
        """Return what is free on each node, as soon as it is enough for a worker of each step."""
        deadline_s = time.monotonic() + self._tuning.slow_release_s
        while True:
            left = self._left(nodes, _settled(nodes, self._tuning))
            try:
                self._check(left)
            except ClusterError:
                if time.monotonic() > deadline_s:
                    raise
            else:
                return left

    def _left(self, nodes: Sequence[NodeResources], free: Free) -> list[NodeResources]:
        parts = [free_part(node, free.get(node.node_id)) for node in nodes]
        if self._with_cpus:
            return parts
        return [replace(part, cpus=node.cpus) for part, node in zip(parts, nodes, strict=True)]

    def _check(self, nodes: Sequence[NodeResources]) -> None:
        """Check that a worker of each step fits on what is free."""
        if self._with_cpus and not any(node.cpus for node in nodes):
            raise ClusterError("all CPUs of the cluster are in use", fix="wait for other jobs to end, or add nodes")
        for step in self._steps:
            placement = Placement([Node.of(node) for node in nodes])
            if step.held and placement.place(0, step.held, cpus=step.cpus) is None:
                raise ClusterError(
                    f"{step.name!r} needs {step.describe()} for a worker, but other jobs or runs leave at most "
                    f"{placement.describe_largest(step)} free on a node",
                    fix="wait for them to end, limit their max_workers so that they leave some free, or add nodes",
                )

    # Reserve

    def _reserve(self, nodes: Sequence[NodeResources], patience_s: float) -> list[NodeResources]:
        """Reserve parts of nodes; return those that were granted in time, or need nothing reserved."""
        from ray.util import placement_group, remove_placement_group

        asked = []
        for node in nodes:
            bundle = self._bundle(node)
            if bundle:
                labels = [{_NODE_LABEL: node.node_id}]
                group = placement_group([bundle], strategy="STRICT_PACK", bundle_label_selector=labels)
                self._groups[node.node_id].append(group)  # given back at the end, also if the run is interrupted now
                asked.append((node.node_id, group))
        deadline_s = time.monotonic() + patience_s
        refused = set()
        for node_id, group in asked:
            if not group.wait(max(0.01, deadline_s - time.monotonic())):
                self._groups[node_id].remove(group)
                remove_placement_group(group)
                refused.add(node_id)
        return [node for node in nodes if node.node_id not in refused]

    def _bundle(self, node: NodeResources) -> dict[str, float]:
        amounts = {name: amount for name, amount in node.custom.items() if name in self._names}
        amounts |= {"GPU": float(math.floor(node.gpus)) if "GPU" in self._names else 0.0}
        amounts |= {"memory": float(node.memory_bytes) if "memory" in self._names else 0.0}
        amounts |= {"CPU": node.cpus if self._with_cpus else 0.0}
        return {name: amount for name, amount in amounts.items() if amount}


def free_part(node: NodeResources, free: Mapping[str, float] | None) -> NodeResources:
    """Return a node with what is free of it: whole CPUs and GPUs; everything, where that is not known.

    >>> from curator_core.executors.ray.nodes import NodeResources
    >>> shared = NodeResources("a", cpus=8, gpus=4, memory_bytes=100, custom={"disk": 2})
    >>> left = free_part(shared, {"CPU": 6.5, "GPU": 2.75, "memory": 60.0})
    >>> left.cpus, left.gpus, left.memory_bytes, left.custom
    (6.0, 2, 60, {'disk': 0.0})
    """
    if free is None:
        return replace(node, cpus=float(int(node.cpus)), gpus=math.floor(node.gpus))
    return replace(
        node,
        cpus=float(int(min(node.cpus, free.get("CPU", 0.0)))),
        gpus=math.floor(min(node.gpus, free.get("GPU", 0.0))),
        memory_bytes=int(min(node.memory_bytes, free.get("memory", 0.0))),
        custom={name: min(amount, free.get(name, 0.0)) for name, amount in node.custom.items()},
    )


def _settled(nodes: Sequence[NodeResources], tuning: Tuning) -> Free:
    """Return what is free on each node, after a moment in which what a run had that has just ended comes back.

    Without it, the second of two runs would get nothing, or little for all its life.
    """
    deadline_s = time.monotonic() + tuning.release_s
    while True:
        free = free_resources()
        is_all_free = all(free_part(node, free.get(node.node_id)) == free_part(node, None) for node in nodes)
        if is_all_free or time.monotonic() > deadline_s:
            return free
        time.sleep(tuning.release_look_s)
