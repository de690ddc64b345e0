"""Make an object file of a kernel: numba compiles it, and what belongs to numba itself is left out."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba import types

from curator_text.kernels.machine_code import MachineCode, target_machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_text.kernels.native import Argument

__all__ = ["compile_kernel"]

_njit: Any = numba.njit
_FROM_C = frozenset({"memcpy", "memmove", "memset"})
"""What LLVM makes of loops, and every process has."""
_NO_OWNERS = """
define void @NRT_incref(ptr %owner) { ret void }
define void @NRT_decref(ptr %owner) { ret void }
"""
"""Arrays are handed over without their owner, who waits for the kernel: there are no references to count."""


def compile_kernel(module: str, function: str, arguments: Sequence[Argument]) -> MachineCode:
    """Compile a kernel of this package.

    Args:
        module: The module that defines it.
        function: Its name there.
        arguments: What it takes.
    """
    kernel = getattr(import_module(f"curator_text.kernels.{module}"), function)
    dispatcher = _njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(kernel)
    dispatcher.compile(tuple(map(_type, arguments)))
    (compiled,) = dispatcher.overloads.values()
    return _alone(compiled.fndesc.llvm_func_name, compiled.library.get_llvm_str())


def _type(argument: Argument) -> Any:
    entry = numba.from_dtype(np.dtype(argument.dtype))
    if argument.dimensions == 0:
        return entry
    return types.Array(entry, argument.dimensions, "C", readonly=not argument.is_written)


def _alone(symbol: str, text: str) -> MachineCode:
    """Return the code of a function that needs nothing of numba when it runs.

    Raises:
        TypeError: It does: it makes arrays, say.
    """
    module = llvm.parse_assembly(text)
    module.link_in(llvm.parse_assembly(f'target triple = "{module.triple}"\n{_NO_OWNERS}'))
    declared = [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]
    code: bytes = target_machine().emit_object(module)
    foreign = [name for name in declared if name not in _FROM_C and name.encode() in code]
    if foreign:
        raise TypeError(f"{symbol} cannot run without numba: it calls {', '.join(foreign)}")
    return MachineCode(symbol, code)
