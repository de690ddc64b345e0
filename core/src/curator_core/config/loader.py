"""Read a pipeline file: names become stages, and everything wrong with the file is reported at once."""

from __future__ import annotations

import difflib
import os
import pathlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from curator_core.config.document import parse_document
from curator_core.config.executors import executor_class
from curator_core.config.params import check_options, check_params, construct
from curator_core.config.problems import Problem, did_you_mean, one_line, render_path
from curator_core.config.variables import Variables
from curator_core.errors import ConfigError, CuratorError, PipelineError
from curator_core.pipeline import Pipeline
from curator_core.specs import WorkflowSpec
from curator_core.workflow import Workflow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.config.document import Document
    from curator_core.config.problems import Fault, Path
    from curator_core.plan import Plan
    from curator_core.registry import Registry
    from curator_core.stage import ProcessingStage

__all__ = ["FILE_VERSION", "LoadedPipeline", "load_pipeline"]

FILE_VERSION = 1
"""Version of the file format, which a file must state."""
_TOP_LEVEL = ("version", "name", "description", "stages", "workflow", "executor")


@dataclass(frozen=True)
class LoadedPipeline:
    """A pipeline file, read and checked.

    Args:
        pipeline: The pipeline.
        executor_name: Executor the file asks for, if it names one.
        executor_options: Arguments for it.
        path: The file; None when the text was given.
        stage_lines: Line of each stage by its name.
        workflow: The workflow, where the file names one instead of stages.
    """

    pipeline: Pipeline
    executor_name: str | None = None
    executor_options: Mapping[str, Any] = field(default_factory=dict)
    path: pathlib.Path | None = None
    stage_lines: Mapping[str, int] = field(default_factory=dict)
    workflow: Workflow | None = None

    def build(self, *, check_inputs: bool = True) -> Plan:
        """Build the pipeline; what is wrong with it is reported with the file and, where it tells, the line.

        Raises:
            PipelineError: The pipeline cannot run as it is.
        """
        if self.workflow is not None:
            raise PipelineError(
                f"{self.path or '<text>'} is a workflow, whose pipelines are known only as it runs",
                fix="curator run and curator validate take it",
            )
        try:
            return self.pipeline.build(check_inputs=check_inputs)
        except PipelineError as error:
            place = Problem(error.message, line=self._line_of(error.stage)).render(str(self.path or "<text>"))
            raise PipelineError(place, stage=error.stage, fix=error.fix) from error

    def _line_of(self, stage: str | None) -> int | None:
        """Return the line of a stage; a part of a composite (``text.read_jsonl.files``) is on its composite's line."""
        while stage:
            if stage in self.stage_lines:
                return self.stage_lines[stage]
            stage = stage.rpartition(".")[0]
        return None


def load_pipeline(
    source: str | os.PathLike[str],
    variables: Mapping[str, object] | None = None,
    *,
    registry: Registry | None = None,
) -> LoadedPipeline:
    r"""Read a pipeline from a file or from YAML text.

    >>> load_pipeline("version: 1\nstages:\n- core.sample: {share: 0.5}\n").pipeline.stages[0].share
    0.5

    Args:
        source: Path of the file, or the text itself (anything with a line break).
        variables: Values for ``${NAME}``, before those of the environment.
        registry: Where names are looked up; that of the process unless given.

    Raises:
        ConfigError: Lists everything that is wrong, each with its line.
    """
    from curator_core.registry import default_registry

    text, path = _read(source)
    values = Variables(variables, os.environ)
    document = parse_document(text, source=str(path) if path is not None else "<text>", variables=values)
    for name, hint in values.unused.items():
        document.complain((), f"variable {name!r} was given a value, but the file does not use it{hint}", where="")
    loaded = _FileReader(document, registry or default_registry()).read(path)
    document.raise_problems()
    loaded.pipeline.references = values.references
    return loaded


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
    """Walk through a document, noting problems and going on."""

    def __init__(self, document: Document, registry: Registry) -> None:
        self._document = document
        self._registry = registry
        self._lines: dict[str, int] = {}

    def read(self, path: pathlib.Path | None) -> LoadedPipeline:
        data = self._document.data
        if not isinstance(data, dict):
            self._document.complain((), "expected a mapping with the keys version, name and stages")
            self._document.raise_problems()
        for key in data:
            if key not in _TOP_LEVEL:
                self._document.complain((str(key),), f"unknown key{did_you_mean(key, _TOP_LEVEL)}")
        self._check_version(data)
        workflow = self._workflow(data["workflow"]) if "workflow" in data else None
        if "workflow" in data and "stages" in data:
            self._document.complain(("workflow",), "a file has stages or a workflow, not both")
        stages = [] if "workflow" in data else self._stages(data)
        default_name = path.stem if path is not None else "pipeline"
        pipeline = Pipeline(self._text(data, "name", default_name), self._text(data, "description", ""), stages)
        name, options = self._executor(data["executor"]) if "executor" in data else (None, {})
        return LoadedPipeline(pipeline, name, options, path, self._lines, workflow)

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

    def _stages(self, data: dict[Any, Any]) -> list[ProcessingStage[Any, Any]]:
        entries = data.get("stages")
        if not isinstance(entries, list) or not entries:
            what = "the key 'stages' is missing" if "stages" not in data else "expected a list with at least one stage"
            self._document.complain(("stages",) if "stages" in data else (), what)
            return []
        stages = (
            self._stage(entry, ("stages", position))
            for position, entry in enumerate(entries)
            if ("stages", position) not in self._document.unreadable
        )
        return [stage for stage in stages if stage is not None]

    def _workflow(self, entry: Any) -> Workflow | None:
        """Make the workflow of an entry such as ``dedup.fuzzy: {input_path: corpus}``."""
        path: Path = ("workflow",)
        name, params, options = self._parts(entry, path)
        if name is None or params is None:
            return None
        if options:
            self._document.complain((*path, "with"), "a workflow takes no options; its parameters stand below its name")
        inside = (*path, name) if isinstance(entry, dict) else path
        try:
            target = self._registry.find(WorkflowSpec, name).load()
        except CuratorError as error:
            self._document.complain(inside, one_line(error), where="workflow")
            return None
        workflow, faults = construct(target, params)
        self._note(faults, inside, f"workflow {name}")
        return workflow if isinstance(workflow, Workflow) else None

    def _stage(self, entry: Any, path: Path) -> ProcessingStage[Any, Any] | None:
        name, params, options = self._parts(entry, path)
        if name is None or params is None or options is None:
            return None
        where = f"{render_path(path)} {name}"
        inside = (*path, name) if isinstance(entry, dict) else path
        try:
            target = self._registry.stage_target(name)
        except CuratorError as error:
            self._document.complain(inside, one_line(error), where=render_path(path))
            return None
        stage, faults = construct(target, params)
        changes, option_faults = check_options(target if isinstance(target, type) else type(target), options)
        self._note(faults, inside, where)
        self._note(option_faults, (*path, "with"), f"{where} with")
        if stage is None or option_faults:
            return None
        made: ProcessingStage[Any, Any] = stage.with_(**changes) if changes else stage
        self._lines.setdefault(made.name, self._document.line(path) or 0)
        return made

    def _parts(self, entry: Any, path: Path) -> tuple[str | None, dict[str, Any] | None, dict[str, Any] | None]:
        """Take an entry apart: the stage's name, its parameters, its options."""
        if isinstance(entry, str):
            return entry, {}, {}
        if not isinstance(entry, dict):
            self._document.complain(path, f"expected a stage name, or a name with parameters, got {entry!r}")
            return None, {}, {}
        names = [key for key in entry if key != "with"]
        if len(names) != 1 or not isinstance(names[0], str):
            if any(isinstance(name, str) and "." not in name for name in names) and isinstance(names[0], str):
                what = f"keys {', '.join(map(repr, names))} stand side by side; indent parameters below the stage"
            else:
                what = "expected one stage name (and 'with'); begin every stage with '- '"
            self._document.complain(path, what)
            return None, {}, {}
        params = self._mapping(entry[names[0]], (*path, names[0]), "parameters")
        options = self._mapping(entry.get("with"), (*path, "with"), "options")
        return names[0], params, options

    def _mapping(self, value: Any, path: Path, what: str) -> dict[str, Any] | None:
        if value is None:
            return {}
        if isinstance(value, dict):
            return value
        self._document.complain(path, f"expected {what} as a mapping such as {{key: value}}, got {value!r}")
        return None

    def _executor(self, value: Any) -> tuple[str | None, dict[str, Any]]:
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

    def _note(self, faults: list[Fault], path: Path, where: str) -> None:
        for fault in faults:
            if (*path, *fault.path) in self._document.unreadable:
                continue
            inner = render_path(fault.path)
            place = where if not inner else f"{where}.{inner}"
            self._document.complain((*path, *fault.path), fault.what, where=place)
