"""Keep the return value of a workflow step, so that a resumed workflow need not run it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from curator_core.files.atomic import atomic_output
from curator_core.run.ledger.descriptions import as_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["StepRecord", "forget_steps"]

_FILE = "step.json"


def forget_steps(run_dir: Path) -> None:
    """Remove the records that an earlier run of a workflow has left."""
    for path in run_dir.glob(f"*/{_FILE}"):
        path.unlink(missing_ok=True)


class StepRecord:
    """The record of one step: there is one only for a step that came to its end and returned plain data.

    Args:
        folder: Folder of the step.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    @property
    def exists(self) -> bool:
        """Whether the step was finished."""
        return self._path.exists()

    def read(self) -> Any:
        """Return the value of the step."""
        return json.loads(self._path.read_text(encoding="utf-8"))["value"]

    def write(self, value: Any) -> None:
        """Keep the value of the step. A value that JSON would change is not kept, and its step runs again on resume."""
        text = as_json({"value": value})
        if text is None:
            self._path.unlink(missing_ok=True)
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_output(str(self._path)) as file:
            file.write(text.encode("utf-8"))
