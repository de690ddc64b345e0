"""Machine code of single kernels: compiled by numba once a machine, kept as a file, loaded by LLVM.

A file has a checksum: code that a crash of the machine has damaged is compiled again, not run.
"""

from __future__ import annotations

import hashlib
import logging
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm

from curator_dedup.compiled_folder import compiled_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curator_text.kernels.native import Argument

__all__ = ["MachineCode", "machine_code"]

_DIGEST_BYTES = 16
_engines: list[Any] = []  # what is loaded stays where it is as long as its engine lives
_log = logging.getLogger("curator_text")


@dataclass(frozen=True)
class MachineCode:
    """An object file with one function.

    Args:
        symbol: Name of the function.
        code: The object file.
    """

    symbol: str
    code: bytes

    def address(self) -> int:
        """Load it and return where the function is; it stays there until the process ends."""
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        engine.add_object_file(llvm.ObjectFileRef.from_data(self.code))
        engine.finalize_object()
        _engines.append(engine)
        return int(engine.get_function_address(self.symbol))

    def to_bytes(self) -> bytes:
        """Return it as the content of a file."""
        content = self.symbol.encode() + b"\n" + self.code
        return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest() + content

    @classmethod
    def from_bytes(cls, data: bytes) -> MachineCode | None:
        """Return what is in a file, or None where it is damaged."""
        content = data[_DIGEST_BYTES:]
        if not content or hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest() != data[:_DIGEST_BYTES]:
            return None
        symbol, _, code = content.partition(b"\n")
        return cls(symbol.decode(), code)


def machine_code(module: str, function: str, arguments: Sequence[Argument]) -> MachineCode:
    """Return the code of a kernel for this machine's processor; the first process compiles it, others wait for it.

    Args:
        module: The module of this package that defines the kernel.
        function: Its name there.
        arguments: What it takes.
    """
    _start_llvm()
    processor = f"{llvm.get_host_cpu_name()} {_features()}"
    kind = hashlib.blake2b(f"{arguments} {processor}".encode(), digest_size=8).hexdigest()
    path = _folder() / f"{function}-{kind}.code"
    found = _read(path)
    if found is not None:
        return found
    from filelock import FileLock

    with FileLock(str(path.with_suffix(".lock"))):
        found = _read(path)
        if found is None:
            from curator_text.kernels.native_compiler import compile_kernel

            _log.info("compiling text kernels (once per machine): %s", function)
            found = compile_kernel(module, function, arguments)
            _write(path, found.to_bytes())
    return found


@cache
def _folder() -> Path:
    return compiled_folder("text-code", Path(__file__).parent)


def target_machine() -> Any:
    """Return LLVM's description of this machine."""
    _start_llvm()
    target = llvm.Target.from_default_triple()
    relocation = "static" if target.name.startswith("x86") else "default"  # as numba has it
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=_features(),
        opt=3,
        reloc=relocation,
        codemodel="jitdefault",
        jit=True,
    )


def _start_llvm() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _features() -> str:
    try:
        return str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # LLVM cannot tell on some processors; code that any of their make runs will do
        return ""


def _read(path: Path) -> MachineCode | None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    found = MachineCode.from_bytes(data)
    if found is None:
        _log.warning("compiling text kernels again: %s is damaged", path.name)
    return found


def _write(path: Path, data: bytes) -> None:
    hidden = path.with_name(f".{path.name}.{os.getpid()}")
    hidden.write_bytes(data)
    hidden.replace(path)
