"""Read a pipeline file: names become stages, and everything wrong with the file is reported at once."""

from __future__ import annotations

import difflib
import os
import pathlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from curator_core.config.document import parse_document
from curator_core.config.executors import executor_class
from curator_core.config.variables import Variables
from curator_core.parameters.params import check_options, check_params, construct
from curator_core.parameters.problems import did_you_mean, one_line, render_path
from curator_core.values.errors import ConfigError, CuratorError
from curator_core.values.specs import WorkflowSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curator_core.authoring.stage import ProcessingStage
    from curator_core.config.document import Document
    from curator_core.parameters.problems import Fault, Path
    from curator_core.parameters.references import References
    from curator_core.registry import Registry

__all__ = ["FILE_VERSION", "FileDescription", "JobDescription", "read_pipeline_file"]

FILE_VERSION = 1
"""Version of the file format, which a file must state."""
_JOBS = ("stages", "workflow", "steps")
_TOP_LEVEL = ("version", "name", "description", *_JOBS, "executor")
_IN_STEP = ("name", "stages", "workflow")


@dataclass(frozen=True)
class JobDescription:
    """Stages or a workflow, under the name of the file or of one of its steps."""

    name: str
    stages: Sequence[ProcessingStage[Any, Any]] = ()
    lines: Mapping[str, int] = field(default_factory=dict)  # of each stage by its name
    workflow: Any = None  # what the target of a plugin came to, in the place of stages


@dataclass(frozen=True)
class FileDescription:
    """A whole file, checked: ``stages``, one ``workflow``, or several ``steps`` that are either."""

    name: str
    description: str
    job: JobDescription | tuple[JobDescription, ...] | None  # None where the file has problems
    executor_name: str | None = None
    executor_options: Mapping[str, Any] = field(default_factory=dict)
    path: pathlib.Path | None = None  # None where the text was given
    references: References = field(default_factory=dict)


def read_pipeline_file(
    source: str | os.PathLike[str],
    variables: Mapping[str, object] | None = None,
    *,
    registry: Registry,
) -> FileDescription:
    r"""Read a pipeline file, or its text.

    >>> from curator_core.registry import Registry
    >>> found = read_pipeline_file("version: 1\nstages:\n- table.sample: {share: 0.5}\n", registry=Registry())
    >>> found.job.stages[0].share
    0.5

    Args:
        source: Path of the file, or the text itself (anything with a line break).
        variables: Values for ``${NAME}``, before those of the environment.
        registry: Where names are looked up.

    Raises:
        ConfigError: Lists everything that is wrong, each with its line.
    """
    text, path = _read(source)
    values = Variables(variables, os.environ)
    document = parse_document(text, source=str(path) if path is not None else "<text>", variables=values)
    values.hide_values()
    for name, hint in values.unused.items():
        document.complain((), f"variable {name!r} was given a value, but the file does not use it{hint}", where="")
    found = _FileReader(document, registry).read(path)
    document.raise_problems()
    return replace(found, references=values.references)


def _read(source: str | os.PathLike[str]) -> tuple[str, pathlib.Path | None]:
    if isinstance(source, str) and "\n" in source:
        return source, None
    path = pathlib.Path(source)
    try:
        return path.read_text(encoding="utf-8-sig"), path
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a text file in UTF-8 (byte {error.start})", fix="save it as UTF-8") from error
    except OSError as error:
        folder = path.parent
        others = [each.name for each in folder.iterdir() if each.is_file()] if folder.is_dir() else []
        close = difflib.get_close_matches(path.name, others, n=1)
        hint = f", did you mean {str(folder / close[0])!r}?" if close else ""
        raise ConfigError(f"cannot read pipeline file {str(path)!r}: {error.strerror or error}{hint}") from error


class _FileReader:
    """Makes things of the entries that name them; problems are noted in the document, and reading goes on."""

    def __init__(self, document: Document, registry: Registry) -> None:
        self._document = document
        self._registry = registry

    def read(self, path: pathlib.Path | None) -> FileDescription:
        data = self._document.data
        if not isinstance(data, dict):
            self._document.complain((), "expected a mapping with the keys version, name and stages")
            self._document.raise_problems()
        self._check_keys(data, _TOP_LEVEL, ())
        self._check_version(data)
        name = self._text(data, "name", path.stem if path is not None else "pipeline")
        description = self._text(data, "description", "")
        executor, options = self._executor(data["executor"]) if "executor" in data else (None, {})
        job: Any = self._one_of(data, _JOBS, ())
        if job == "steps":
            job = self._steps(data["steps"])
        elif job is not None:
            job = self._job(job, data[job], name, (job,))
        return FileDescription(name, description, job, executor, options, path)

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

    def _steps(self, entries: Any) -> tuple[JobDescription, ...]:
        if not isinstance(entries, list) or not entries:
            self._document.complain(("steps",), "expected a list with at least one step")
            return ()
        steps: list[JobDescription] = []
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

    def _job(self, kind: str, entry: Any, name: str, path: Path) -> JobDescription:
        if kind == "workflow":
            return JobDescription(name, workflow=self._made(entry, path, is_workflow=True))
        stages: list[ProcessingStage[Any, Any]] = []
        lines: dict[str, int] = {}
        if not isinstance(entry, list) or not entry:
            self._document.complain(path, "expected a list with at least one stage")
            return JobDescription(name, stages, lines)
        for position, each in enumerate(entry):
            place = (*path, position)
            stage = None if place in self._document.unreadable else self._made(each, place)
            if stage is not None:
                stages.append(stage)
                lines.setdefault(stage.name, self._document.line(place) or 0)
        return JobDescription(name, stages, lines)

    def _made(self, entry: Any, path: Path, *, is_workflow: bool = False) -> Any:
        """Make the stage or the workflow of an entry such as ``text.word_count: {min_words: 5}``, or return None."""
        parts = self._parts(entry, path)
        if parts is None:
            return None
        name, params, options = parts
        where = f"{render_path(path)} {name}"
        inside = (*path, name) if isinstance(entry, dict) else path
        if is_workflow and options:
            self._document.complain((*path, "with"), "a workflow takes no options; its parameters stand below its name")
        try:
            find = self._registry.find
            target = find(WorkflowSpec, name).load() if is_workflow else self._registry.stage_target(name)
        except CuratorError as error:
            self._document.complain(inside, one_line(error), where=render_path(path))
            return None
        made, faults = construct(target, params)
        self._note(faults, inside, where)
        if is_workflow:
            return made
        changes, faults = check_options(target if isinstance(target, type) else type(target), options)
        self._note(faults, (*path, "with"), f"{where} with")
        return made.with_(**changes) if made is not None and changes and not faults else made

    def _executor(self, value: Any) -> tuple[str | None, dict[str, Any]]:
        """Return the name of the executor and its checked options."""
        options = dict(value) if isinstance(value, dict) else {"name": value}
        name = options.pop("name", None)
        if not isinstance(name, str):
            self._document.complain(("executor",), "expected a name, or a mapping such as {name: local, threads: 4}")
            return None, {}
        try:
            cls = executor_class(name, self._registry)
        except CuratorError as error:
            self._document.complain(("executor",), one_line(error))
            return name, options
        checked, faults = check_params(cls, options)
        self._note(faults, ("executor",), f"executor {name}")
        return name, checked

    def _parts(self, entry: Any, path: Path) -> tuple[str, dict[str, Any], dict[str, Any]] | None:
        """Take an entry apart: the name, its parameters, its options."""
        if isinstance(entry, str):
            return entry, {}, {}
        if not isinstance(entry, dict):
            self._document.complain(path, f"expected a stage name, or a name with parameters, got {entry!r}")
            return None
        names = [key for key in entry if key != "with"]
        if len(names) != 1 or not isinstance(names[0], str):
            if any(isinstance(name, str) and "." not in name for name in names) and isinstance(names[0], str):
                what = f"keys {', '.join(map(repr, names))} stand next to each other; indent parameters below the stage"
            else:
                what = "expected one stage name (and 'with'); begin every stage with '- '"
            self._document.complain(path, what)
            return None
        found: list[dict[str, Any]] = []
        for key, what in ((names[0], "parameters"), ("with", "options")):
            value = entry.get(key)
            if value is None or isinstance(value, dict):
                found.append(value or {})
            else:
                problem = f"expected {what} as a mapping such as {{key: value}}, got {value!r}"
                self._document.complain((*path, key), problem)
        return (names[0], found[0], found[1]) if len(found) > 1 else None

    def _note(self, faults: list[Fault], path: Path, where: str) -> None:
        for fault in faults:
            place = (*path, *fault.path)
            if place not in self._document.unreadable:
                inner = render_path(fault.path)
                self._document.complain(place, fault.what, where=f"{where}.{inner}" if inner else where)
