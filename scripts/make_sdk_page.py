"""Write docs/sdk.md: every name of curator_core.sdk with the first line of its docstring and its example."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[1] / "docs" / "sdk.md"
HEADER = """# curator_core.sdk

Everything that stages, readers, writers, executors, workflows and commands are written with, as
`python scripts/make_sdk_page.py` lists it. The examples run behind `from curator_core.sdk import *`, as the tests do;
`help(curator_core.sdk.Filter)` also shows parameters. [plugins.md](plugins.md) shows how the parts are put together.
"""
SUBJECTS = {
    "Stages and filters": ("authoring.stage", "authoring.filter", "authoring.function", "authoring.row_functions"),
    "Tasks": ("authoring.tasks", "authoring.provenance"),
    "What a stage reports": ("authoring.recording", "authoring.row_outcomes", "values.histogram"),
    "Models": ("authoring.models",),
    "Readers and writers": ("authoring",),
    "Files": ("files",),
    "Parameters and resources": ("parameters", "values.resources", "values.redaction", "values.lazy_names"),
    "Running": ("executors", "run", "pipelines"),
    "Plugins and commands": ("registry", "cli"),
    "Errors": ("values.errors",),
}
"""The sections, by the modules that the names are from; a module belongs to the first that names it."""
_ROLE = re.compile(r":\w+:`~?([^`]+)`")


def page() -> str:
    """Return the page.

    Raises:
        LookupError: A module belongs to no section.
    """
    from curator_core import sdk

    by_subject: dict[str, list[str]] = {subject: [] for subject in SUBJECTS}
    for home, names in vars(sdk)["_HOMES"].items():
        by_subject[_subject(home)] += names
    sections = [HEADER.rstrip()]
    for subject, names in by_subject.items():
        sections += ["", f"## {subject}"]
        for name in sorted(names, key=str.lower):
            sections += _entry(name, getattr(sdk, name))
    return "\n".join(sections) + "\n"


def _subject(home: str) -> str:
    for subject, prefixes in SUBJECTS.items():
        if any(home == each or home.startswith((f"{each}.", f"{each}_")) for each in prefixes):
            return subject
    raise LookupError(f"curator_core.{home} belongs to no section of the page; add it to SUBJECTS")


def _entry(name: str, value: object) -> Iterator[str]:
    yield ""
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        yield f"### `{name}`"
        if isinstance(value, (set, frozenset)):  # which have another order in each process
            value = tuple(sorted(value))
        if isinstance(value, (str, int, float, tuple)):
            yield f"\n`{value!r}`"
        return
    yield f"### `{name}`\n"
    text = inspect.cleandoc(value.__doc__ or "")
    yield _ROLE.sub(r"`\1`", text.partition("\n\n")[0].replace("\n", " ").replace("``", "`"))
    example = "\n".join(_example_lines(text))
    if example:
        yield f"\n```pycon\n{example}\n```"


def _example_lines(text: str) -> Iterator[str]:
    """Yield the first example of a docstring: from its first prompt to the paragraph that is none."""
    paragraphs = text[text.find(">>> ") :].split("\n\n") if ">>> " in text else []
    for number, paragraph in enumerate(paragraphs):
        if not paragraph.startswith(">>> "):
            return
        yield ("\n" if number else "") + textwrap.dedent(paragraph)


def main() -> int:
    """Write the page, or with ``--check`` say whether it is up to date."""
    text = page()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
