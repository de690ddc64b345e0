"""Where each engine runs: this interpreter, or a virtual environment of its own, made when first needed."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

_INSTALL_LIMIT_S = 1_200


class EnvironmentUnavailableError(Exception):
    """A peer's packages could not be installed."""


@dataclass(frozen=True)
class Engine:
    """An engine to compare.

    Args:
        module: Program of ``engine_comparison`` that runs it.
        summary: What it is.
        environment: Name of its environment; empty for this interpreter.
        requirements: What is installed there; ``{ray}`` stands for the version of Ray in this interpreter.
    """

    module: str
    summary: str
    environment: str = ""
    requirements: tuple[str, ...] = ()


_XENNA = ("cosmos-xenna==0.3.0", "tqdm", "numpy", "ray[default]=={ray}")
_RAY_DATA = ("ray[data]=={ray}",)
ENGINES = {
    "ours": Engine("ours", "curator's StreamingExecutor, default settings"),
    "local": Engine("ours", "curator's LocalExecutor: one process, no Ray (family g)"),
    "raw": Engine("raw_loop", "a loop over Ray actors written and tuned by hand: the bound"),
    "xenna": Engine("xenna", "cosmos-xenna 0.3.0, default settings", "xenna", _XENNA),
    "xenna_tuned": Engine("xenna", "cosmos-xenna 0.3.0, autoscaling every 2 s instead of 180", "xenna", _XENNA),
    "ray_data": Engine("ray_data", "Ray Data, one row per block", "ray_data", _RAY_DATA),
    "ray_data_auto": Engine("ray_data", "Ray Data, blocks as it cuts them", "ray_data", _RAY_DATA),
}


def cache_folder() -> Path:
    """Return the folder of the peers' environments, outside the repository."""
    chosen = os.environ.get("CURATOR_BENCHMARKS_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else base / "curator-benchmarks"


def interpreter(engine: Engine) -> str:
    """Return the Python that runs an engine; its environment is made where it is missing or out of date.

    Raises:
        EnvironmentUnavailableError: Its packages cannot be installed.
    """
    if not engine.environment:
        return sys.executable
    folder = cache_folder() / engine.environment
    wanted = [each.format(ray=version("ray")) for each in engine.requirements]
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    installed = folder / "installed.json"
    state = {"python": platform.python_version(), "requirements": wanted}
    if not installed.exists() or json.loads(installed.read_text()) != state:
        print(f"installing {', '.join(wanted)} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        _install(python, wanted)
        installed.write_text(json.dumps(state))
    return str(python)


def _install(python: Path, requirements: list[str]) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", *requirements]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentUnavailableError(f"pip took more than {_INSTALL_LIMIT_S} s") from error
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise EnvironmentUnavailableError(f"pip cannot install {' '.join(requirements)}: {reason}")
