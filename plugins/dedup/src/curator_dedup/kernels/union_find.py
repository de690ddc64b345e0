"""Connected components by union and find, on an array of parents."""

from __future__ import annotations

from typing import Any

from curator_dedup.kernels.compiling import inlined, kernel

__all__ = ["flatten", "unite"]


@kernel
def unite(parents: Any, first: Any, second: Any) -> None:
    """Join the components of pairs; the smallest number of a component is its root.

    Args:
        parents: The parent of each number, itself for a root.
        first: One number of each pair.
        second: The other.
    """
    for index in range(len(first)):
        one, other = _root(parents, first[index]), _root(parents, second[index])
        if one < other:
            parents[other] = one
        elif other < one:
            parents[one] = other


@kernel
def flatten(parents: Any) -> None:
    """Let every number point at the root of its component."""
    for number in range(len(parents)):
        parents[number] = parents[parents[number]]  # parents are smaller, so they point at their roots by now


@inlined
def _root(parents: Any, number: Any) -> Any:
    while parents[number] != number:
        parents[number] = parents[parents[number]]
        number = parents[number]
    return number
