"""Read a pipeline file: names become stages, and everything wrong with the file is reported at once."""

from __future__ import annotations

import difflib
import os
import pathlib
from dataclasses import replace
from typing import TYPE_CHECKING

from curator_core.config.document import parse_document
from curator_core.config.file_reader import FileReader
from curator_core.config.variables import Variables
from curator_core.values.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curator_core.config.description import FileDescription
    from curator_core.registry import Registry

__all__ = ["read_pipeline_file"]


def read_pipeline_file(
    source: str | os.PathLike[str],
    variables: Mapping[str, object] | None = None,
    *,
    registry: Registry,
) -> FileDescription:
    r"""Read a pipeline file, or its text.

    >>> from curator_core.registry import Registry
    >>> found = read_pipeline_file("version: 1\nstages:\n- table.sample: {fraction: 0.5}\n", registry=Registry())
    >>> found.job.stages[0].fraction
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
    found = FileReader(document, registry).read(path)
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
