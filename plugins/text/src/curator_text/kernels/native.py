"""Call compiled kernels without numba: their machine code is kept on disk, and LLVM alone loads it.

Importing numba and letting it unpack what it has cached takes a third of a second, which is a third of all that a
short job takes until its first row. Such a kernel takes arrays and whole numbers, returns nothing or a whole number,
and makes no arrays of its own.
"""

from __future__ import annotations

import ctypes
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_core.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Argument", "NativeKernel"]

_turn = threading.Lock()


@dataclass(frozen=True)
class Argument:
    """What a kernel takes: an array in C's order, or a whole number.

    Args:
        dtype: Name of the type of the entries.
        dimensions: Of the array; zero for a number.
        is_written: Whether the kernel writes to the array.
    """

    dtype: str = "int64"
    dimensions: int = 1
    is_written: bool = False

    def flat(self, value: Any) -> list[int]:
        """Return a value as numba hands it over: owner, parent, entries, their size, address, shape and strides.

        Raises:
            TypeError: The kernel takes something else, which it would take for addresses.
        """
        if self.dimensions == 0:
            return [int(value)]
        if (
            value.dtype != np.dtype(self.dtype)
            or value.ndim != self.dimensions
            or not value.flags.c_contiguous
            or (self.is_written and not value.flags.writeable)
        ):
            raise TypeError(f"an array of {value.dtype} with {value.ndim} dimensions where the kernel takes {self}")
        return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]

    @property
    def words(self) -> int:
        """How many numbers :meth:`flat` returns."""
        return 5 + 2 * self.dimensions if self.dimensions else 1


@dataclass(frozen=True)
class NativeKernel:
    """A kernel of this package, by name; nothing of it is imported before it has to be compiled.

    Args:
        module: The module of this package that defines it.
        function: Its name there.
        arguments: What it takes.
    """

    module: str
    function: str
    arguments: tuple[Argument, ...]
    _loaded: list[Callable[..., int]] = field(default_factory=list, init=False, repr=False, compare=False)

    def __call__(self, *values: Any) -> int:
        """Run it without the interpreter lock; return what it returns, zero where that is nothing."""
        call = self._loaded[0] if self._loaded else self.load()
        returned = ctypes.c_int64()
        failure = ctypes.c_void_p()
        flat = [number for kind, value in zip(self.arguments, values, strict=True) for number in kind.flat(value)]
        status = call(ctypes.addressof(returned), ctypes.addressof(failure), *flat)
        if status:
            raise StageError(f"the kernel {self.function} failed with status {status}")
        return returned.value

    def load(self) -> Callable[..., int]:
        """Make it ready, compiling it where nobody on this machine has."""
        from curator_text.kernels.machine_code import machine_code

        with _turn:
            if not self._loaded:
                address = machine_code(self.module, self.function, self.arguments).address()
                words = 2 + sum(each.words for each in self.arguments)
                self._loaded.append(ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * words)(address))
        return self._loaded[0]
