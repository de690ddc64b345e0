"""The shape of a pipeline file: its keys, and the stages, the workflow or the steps that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.config.description import FileDescription, StagesDescription, WorkflowDescription
from curator_core.config.entries import EntryReader
from curator_core.parameters.problems import did_you_mean

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Sequence

    from curator_core.config.document import Document
    from curator_core.parameters.problems import Path
    from curator_core.registry import Registry

__all__ = ["FILE_VERSION", "FileReader"]

FILE_VERSION = 1
"""Version of the file format, which a file must state."""
_JOBS = ("stages", "workflow", "steps")
_TOP_LEVEL = ("version", "name", "description", *_JOBS, "executor")
_IN_STEP = ("name", "stages", "workflow")


class FileReader:
    """Walks through a document, noting problems and going on.

    Args:
        document: The values of the file.
        registry: Where names are looked up.
    """

    def __init__(self, document: Document, registry: Registry) -> None:
        self._document = document
        self._entries = EntryReader(document, registry)

    def read(self, path: pathlib.Path | None) -> FileDescription:
        """Return what the file comes to; the document has its problems."""
        data = self._document.data
        if not isinstance(data, dict):
            self._document.complain((), "expected a mapping with the keys version, name and stages")
            self._document.raise_problems()
        self._check_keys(data, _TOP_LEVEL, ())
        self._check_version(data)
        name = self._text(data, "name", path.stem if path is not None else "pipeline")
        description = self._text(data, "description", "")
        executor, options = self._entries.executor(data["executor"]) if "executor" in data else (None, {})
        job: Any = self._one_of(data, _JOBS, ())
        if job == "steps":
            job = self._steps(data["steps"])
        elif job is not None:
            job = self._job(job, data[job], name, (job,))
        return FileDescription(name, description, job, executor, options, path)

    def _job(self, kind: str, entry: Any, name: str, path: Path) -> StagesDescription | WorkflowDescription:
        if kind == "workflow":
            return WorkflowDescription(name, self._entries.workflow(entry, path))
        return StagesDescription(name, *self._entries.stages(entry, path))

    def _steps(self, entries: Any) -> tuple[StagesDescription | WorkflowDescription, ...]:
        if not isinstance(entries, list) or not entries:
            self._document.complain(("steps",), "expected a list with at least one step")
            return ()
        steps: list[StagesDescription | WorkflowDescription] = []
        for position, entry in enumerate(entries):
            path: Path = ("steps", position)
            if not isinstance(entry, dict):
                self._document.complain(path, f"expected a step with a name and stages or a workflow, got {entry!r}")
                continue
            self._check_keys(entry, _IN_STEP, path)
            name = self._step_name(entry, path, [step.name for step in steps])
            kind = self._one_of(entry, _JOBS[:2], path)
            if kind is not None:
                steps.append(self._job(kind, entry[kind], name, (*path, kind)))
        return tuple(steps)

    def _step_name(self, entry: dict[Any, Any], path: Path, others: Sequence[str]) -> str:
        name = entry.get("name")
        if not isinstance(name, str) or not name or "/" in name:
            self._document.complain(path, "a step needs a name, of which its folder in the run directory is made")
            return f"step {len(others)}"
        if name in others:
            self._document.complain((*path, "name"), f"another step is called {name!r} already")
        return name

    def _one_of(self, data: dict[Any, Any], keys: Sequence[str], path: Path) -> str | None:
        """Return which of some keys is there: exactly one should be."""
        given = [key for key in keys if key in data]
        if not given:
            self._document.complain(path, f"the key {keys[0]!r} is missing (or {' or '.join(map(repr, keys[1:]))})")
            return None
        if len(given) > 1:
            what = f"{' and '.join(given)} are both given; there can be only one of {', '.join(keys)}"
            self._document.complain((*path, given[1]), what)
        return given[0]

    def _check_keys(self, data: dict[Any, Any], known: Sequence[str], path: Path) -> None:
        for key in data:
            if key not in known:
                self._document.complain((*path, str(key)), f"unknown key{did_you_mean(key, known)}")

    def _check_version(self, data: dict[Any, Any]) -> None:
        if "version" not in data:
            self._document.complain((), f"the key 'version' is missing: begin with version: {FILE_VERSION}")
        elif data["version"] != FILE_VERSION or isinstance(data["version"], bool):
            what = f"{data['version']!r} is not a version that this curator reads; it reads version: {FILE_VERSION}"
            self._document.complain(("version",), what)

    def _text(self, data: dict[Any, Any], key: str, default: str) -> str:
        value = data.get(key, default)
        if isinstance(value, str) and (value or key != "name"):
            return value
        if value is not None and not isinstance(value, (str, list, dict)):
            return str(value)  # a name such as 2024 is a number to YAML only
        self._document.complain((key,), f"expected text, got {value!r}")
        return default
