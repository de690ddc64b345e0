"""Core's and text's tests in a virtual environment of their own: another interpreter, or other dependencies."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("core", "plugins/table", "plugins/dedup", "plugins/text")
PYPROJECTS = tuple(ROOT / package / "pyproject.toml" for package in PACKAGES)
TESTS = ("tests/core", "tests/table", "tests/text")


@dataclass(frozen=True)
class Trial:
    """What to test with.

    Args:
        name: Name in messages; the environment is ``.venv-<name>``.
        python: Interpreter that makes the environment.
        bounds: Constraints beyond ``constraints.txt``, one requirement each.
    """

    name: str
    python: Path
    bounds: Sequence[str] = ()

    def passes(self, arguments: Sequence[str]) -> bool:
        """Run the tests, after installing what is not installed yet, and say whether they pass."""
        print(f"== {self.name}: {self.python}", flush=True)
        environment = ROOT / f".venv-{self.name}"
        try:
            if not self._is_current(environment):
                self._install(environment)
        except subprocess.CalledProcessError as error:
            print(f"{self.name}: cannot install (exit code {error.returncode}), see above")
            return False
        run = [str(environment / "bin" / "python"), "-m", "pytest", *TESTS, *arguments]
        return subprocess.run(run, cwd=ROOT, check=False).returncode == 0

    def _is_current(self, environment: Path) -> bool:
        stamp = environment / ".installed"
        inputs = (ROOT / "constraints.txt", ROOT / "requirements-test.txt", *PYPROJECTS)
        return stamp.exists() and all(path.stat().st_mtime <= stamp.stat().st_mtime for path in inputs)

    def _install(self, environment: Path) -> None:
        subprocess.run([self.python, "-m", "venv", "--clear", environment], check=True)
        bounds = environment / "bounds.txt"
        bounds.write_text("\n".join(self.bounds), encoding="utf-8")
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        pip += [f"--constraint={ROOT / 'constraints.txt'}", f"--constraint={bounds}"]
        subprocess.run([*pip, f"--requirement={ROOT / 'requirements-test.txt'}"], check=True)
        subprocess.run([*pip, "--no-build-isolation", *(f"--editable={ROOT / each}" for each in PACKAGES)], check=True)
        (environment / ".installed").touch()


def report(trials: Sequence[Trial], arguments: Sequence[str]) -> int:
    """Run all trials, print which passed, and return the exit code."""
    passed = {trial.name: trial.passes(arguments) for trial in trials}
    for name, fine in passed.items():
        print(f"{name}: {'passed' if fine else 'FAILED'}")
    return 0 if all(passed.values()) else 1
