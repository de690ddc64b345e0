"""What a Google-style docstring says about each argument."""

from __future__ import annotations

import inspect
import re

__all__ = ["argument_texts", "plain_text", "summary_line"]

_SECTION = re.compile(r"^(?:Args|Arguments|Attributes|Parameters):\s*$")
_ENTRY = re.compile(r"^(?P<indent>\s+)(?P<name>\*{0,2}\w+)\s*(?:\([^)]*\))?:\s*(?P<text>.*)$")


def summary_line(docstring: str | None) -> str:
    """Return the first line of a docstring, or nothing."""
    return inspect.cleandoc(docstring).partition("\n")[0].strip() if docstring else ""


def argument_texts(docstring: str | None) -> dict[str, str]:
    """Return the description of every argument in the ``Args`` section, each on one line.

    >>> argument_texts('''Do it.
    ...
    ...     Args:
    ...         depth: How deep,
    ...             in metres.
    ... ''')
    {'depth': 'How deep, in metres.'}
    """
    texts: dict[str, list[str]] = {}
    entry_indent: str | None = None
    current: list[str] | None = None
    in_section = False
    for line in inspect.cleandoc(docstring or "").splitlines():
        if not line.strip():
            continue
        if not line[0].isspace():
            in_section, entry_indent, current = bool(_SECTION.match(line)), None, None
            continue
        if not in_section:
            continue
        entry = _ENTRY.match(line)
        if entry and entry["indent"] == (entry_indent or entry["indent"]):
            entry_indent = entry["indent"]
            current = texts.setdefault(entry["name"].lstrip("*"), [])
            current.append(entry["text"])
        elif current is not None:
            current.append(line.strip())
    return {name: plain_text(" ".join(part for part in parts if part)) for name, parts in texts.items()}


def plain_text(text: str) -> str:
    """Return text without the markup that is noise outside of generated documentation.

    >>> plain_text("Compress with ``gz`` or :class:`Zstandard`.")
    'Compress with gz or Zstandard.'
    """
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "")
