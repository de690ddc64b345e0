"""Find the Python interpreters of this machine that the packages support and that really start."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Version: TypeAlias = tuple[int, int]

SUPPORTED: tuple[Version, ...] = tuple((3, minor) for minor in range(10, 15))
ASK_VERSION = "import ensurepip, sys; print(*sys.version_info[:2])"


def installed() -> dict[Version, Path]:
    """Return one working interpreter for each supported version, those on the path first."""
    found: dict[Version, Path] = {}
    for candidate in [*_on_path(), *_of_pyenv()]:
        version = version_of(candidate)
        if version in SUPPORTED:
            found.setdefault(version, candidate)
    return found


def outermost(found: Mapping[Version, Path], *, tested: Version) -> dict[Version, Path]:
    """Return the oldest and the newest interpreter, without the version that ``make test`` uses anyway."""
    chosen: Iterable[Version] = {min(found), max(found)} - {tested} if found else ()
    return {version: found[version] for version in sorted(chosen)}


def version_of(python: Path) -> Version | None:
    """Ask an interpreter for its version; None if it has no pip or does not start (as an idle pyenv shim)."""
    try:
        answer = subprocess.run([python, "-c", ASK_VERSION], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    major, minor = answer.stdout.split()
    return int(major), int(minor)


def _on_path() -> list[Path]:
    names = [f"python{major}.{minor}" for major, minor in SUPPORTED]
    return [Path(path) for path in map(shutil.which, names) if path]


def _of_pyenv() -> list[Path]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return sorted(root.glob("versions/*/bin/python"))
