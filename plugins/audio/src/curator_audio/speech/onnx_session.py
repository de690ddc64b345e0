"""Run networks in ONNX files that Python packages carry, without importing those packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from curator_core.sdk import MissingPackageError, StageError

__all__ = ["open_session", "packaged_file"]

_ERRORS_ONLY = 3


def packaged_file(package: str, path: str, *, stage: str, pip: str) -> Path:
    """Return a file inside an installed package. The package is not imported: it may import torch, or more.

    Args:
        package: Import name of the package.
        path: Path of the file inside it.
        stage: Name of the stage, for messages.
        pip: The package to install.

    Raises:
        MissingPackageError: The package is not installed.
        StageError: It has no such file.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingPackageError(f"stage {stage!r}", package=package, pip=pip)
    file = Path(spec.origin).parent / path
    if not file.is_file():
        raise StageError(f"{stage}: the installed {package} has no {path}", fix=f"pip install --upgrade {pip}")
    return file


def open_session(file: Path, *, threads: float) -> Any:
    """Open a network for running on CPUs.

    Args:
        file: The ONNX file.
        threads: CPUs that it may use.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = max(1, int(threads))
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
