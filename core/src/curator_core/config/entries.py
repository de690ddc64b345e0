"""The entries of a pipeline file become stages, workflows and executors; what is wrong with one is noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curator_core.config.executors import executor_class
from curator_core.parameters.params import check_options, check_params, construct
from curator_core.parameters.problems import one_line, render_path
from curator_core.values.errors import CuratorError
from curator_core.values.specs import WorkflowSpec

if TYPE_CHECKING:
    from curator_core.authoring.stage import ProcessingStage
    from curator_core.config.document import Document
    from curator_core.parameters.problems import Fault, Path
    from curator_core.registry import Registry

__all__ = ["EntryReader"]


class EntryReader:
    """Makes things of entries that name them; problems are noted in the document, and reading goes on.

    Args:
        document: The values of the file.
        registry: Where names are looked up.
    """

    def __init__(self, document: Document, registry: Registry) -> None:
        self._document = document
        self._registry = registry

    def stages(self, entries: Any, path: Path) -> tuple[list[ProcessingStage[Any, Any]], dict[str, int]]:
        """Return the stages of a list of entries, and the line of each by its name."""
        if not isinstance(entries, list) or not entries:
            self._document.complain(path, "expected a list with at least one stage")
            return [], {}
        stages: list[ProcessingStage[Any, Any]] = []
        lines: dict[str, int] = {}
        for position, entry in enumerate(entries):
            place = (*path, position)
            stage = None if place in self._document.unreadable else self._stage(entry, place)
            if stage is not None:
                stages.append(stage)
                lines.setdefault(stage.name, self._document.line(place) or 0)
        return stages, lines

    def workflow(self, entry: Any, path: Path) -> Any:
        """Make the workflow of an entry such as ``dedup.fuzzy: {input_path: corpus}``, or return None."""
        name, params, options = self._parts(entry, path)
        if name is None or params is None:
            return None
        if options:
            self._document.complain((*path, "with"), "a workflow takes no options; its parameters stand below its name")
        inside = (*path, name) if isinstance(entry, dict) else path
        try:
            target = self._registry.find(WorkflowSpec, name).load()
        except CuratorError as error:
            self._document.complain(inside, one_line(error), where=render_path(path))
            return None
        workflow, faults = construct(target, params)
        self._note(faults, inside, f"{render_path(path)} {name}")
        return workflow

    def executor(self, value: Any) -> tuple[str | None, dict[str, Any]]:
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
                what = f"keys {', '.join(map(repr, names))} stand next to each other; indent parameters below the stage"
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

    def _note(self, faults: list[Fault], path: Path, where: str) -> None:
        for fault in faults:
            if (*path, *fault.path) in self._document.unreadable:
                continue
            inner = render_path(fault.path)
            place = where if not inner else f"{where}.{inner}"
            self._document.complain((*path, *fault.path), fault.what, where=place)
