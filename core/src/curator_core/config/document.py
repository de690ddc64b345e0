"""A YAML file as plain values that remember their lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from curator_core.parameters.problems import Problem, raise_problems, render_path
from curator_core.plan.yaml_dialect import MAX_DEPTH, PlainLoader, scalar_value
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from curator_core.config.variables import Variables
    from curator_core.parameters.problems import Path

__all__ = ["Document", "parse_document"]

MAX_CHARS = 1_000_000
"""Longest file accepted; real pipeline files have some thousand characters."""
MAX_VALUES = 100_000
"""Most values after aliases are expanded: nested aliases grow exponentially."""
_BARE_ENTRY = re.compile(r"^\s*-\s+([\w.]+)\s*(?:#.*)?$")


@dataclass
class Document:
    """The values of a file, the line each stands on, and what is wrong so far."""

    source: str
    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unreadable: set[Path] = field(default_factory=set)  # complaints about what stands in for these would mislead

    def line(self, path: Path) -> int | None:
        """Return the line of a value, or of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)

    def complain(self, path: Path, what: str, *, where: str | None = None, line: int | None = None) -> None:
        """Note a problem at a place."""
        self.problems.append(Problem(what, render_path(path) if where is None else where, line or self.line(path)))

    def raise_problems(self) -> None:
        """Raise what was noted, if anything."""
        raise_problems(self.problems, self.source)


def parse_document(text: str, *, source: str, variables: Variables) -> Document:
    """Parse YAML and replace variables in its values.

    Raises:
        ConfigError: The text is not YAML of plain values, or a variable has no value.
    """
    if len(text) > MAX_CHARS:
        raise ConfigError(f"{source}: {len(text)} characters are more than a pipeline file may have ({MAX_CHARS})")
    loader = None
    try:
        loader = PlainLoader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise_problems([_syntax_problem(error, text)], source)
    except yaml.YAMLError as error:  # characters that YAML does not allow
        raise ConfigError(f"{source}: not YAML: {error}") from error
    except RecursionError:
        raise ConfigError(f"{source}: nested too deeply to be a pipeline file") from None
    finally:
        if loader is not None:
            loader.dispose()
    document = Document(source)
    if node is not None:
        document.data = _Reader(document, variables).value(node, ())
    return document


def _syntax_problem(error: yaml.MarkedYAMLError, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    what = ", ".join(part for part in (error.context, error.problem) if part)
    if mark is None:
        return Problem(f"not YAML: {what}")
    return Problem(f"not YAML: {what}{_syntax_hint(text, mark.line)}", line=mark.line + 1)


def _syntax_hint(text: str, line: int) -> str:
    """Return what is probably meant, for the two mistakes that pipeline files invite."""
    lines = [*text.splitlines(), "", ""]
    if "${" in lines[min(line, len(lines) - 1)]:
        return '; inside {…} and […] a variable needs quotes: "${NAME}"'
    bare = _BARE_ENTRY.match(lines[max(line - 1, 0)])
    return f"; a stage with something below it needs a colon: '- {bare[1]}:'" if bare else ""


class _Reader:
    """Turn nodes into values; problems are noted and the rest is read on."""

    def __init__(self, document: Document, variables: Variables) -> None:
        self._document = document
        self._variables = variables
        self._count = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self._count += 1
        self._document.lines.setdefault(path, node.start_mark.line + 1)
        if self._count > MAX_VALUES or len(path) > MAX_DEPTH:
            limit = f"{MAX_VALUES} values" if self._count > MAX_VALUES else f"{MAX_DEPTH} levels"
            self._document.complain(path[:3], f"more than {limit}: does an alias contain itself, or other aliases?")
            self._document.raise_problems()
        if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            return [self.value(child, (*path, position)) for position, child in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        return self._refuse_tag(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._document.complain(path, "a key must be a single word or number, not a list or a mapping")
                continue
            try:
                key = scalar_value(key_node.value, key_node.tag)
            except ValueError:
                self._refuse_tag(key_node, path)
                key = None
            line = key_node.start_mark.line + 1
            child = (*path, key if isinstance(key, (str, int)) else str(key))
            if key in result:
                what = f"key {key!r} is given twice (first on line {self._document.line(child)})"
                self._document.complain(child, what, line=line)
                continue
            self._document.lines[child] = line
            result[key] = self.value(value_node, child)
        return result

    def _scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        text: str = node.value
        tag: str | None = node.tag
        if "$" in text:
            try:
                parameter = next((part for part in reversed(path) if isinstance(part, str)), "")
                text = self._variables.substitute(text, parameter)
            except ConfigError as error:
                self._document.complain(path, str(error))
                self._document.unreadable.add(path)
                return text
            if node.style is None:  # unquoted: read as if the value had been typed in its place
                tag = None
        try:
            return scalar_value(text, tag)
        except ValueError:
            return self._refuse_tag(node, path)

    def _refuse_tag(self, node: yaml.Node, path: Path) -> None:
        name = node.tag.replace("tag:yaml.org,2002:", "!!")
        what = f"the tag {name!r} is not allowed here: pipeline files hold plain values only"
        self._document.complain(path, what, line=node.start_mark.line + 1)
        self._document.unreadable.add(path)
