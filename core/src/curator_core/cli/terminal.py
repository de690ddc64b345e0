"""Data to standard output, messages to standard error, colour only where a person looks."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from curator_core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["columns_text", "message", "paint", "print_data", "print_json", "uses_colour", "warning"]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def print_data(text: str) -> None:
    """Write a result to standard output."""
    sys.stdout.write(f"{text}\n")


def print_json(value: Any) -> None:
    """Write a result to standard output as one JSON value, in ASCII so that every terminal and locale takes it."""
    print_data(json.dumps(value, indent=2, default=str))


def message(text: str) -> None:
    """Write a message to standard error, without the secrets in it."""
    sys.stderr.write(f"{redact(text)}\n")
    sys.stderr.flush()


def warning(text: str) -> None:
    """Write a warning to standard error."""
    message(f"{paint('warning:', 'yellow', stream=sys.stderr)} {text}")


def uses_colour(stream: TextIO) -> bool:
    """Return whether to colour what goes to a stream: a terminal, unless ``NO_COLOR`` says otherwise."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def paint(text: str, style: str, *, stream: TextIO | None = None) -> str:
    """Return the text in a style, if the stream (standard output unless given) shows styles."""
    if not uses_colour(sys.stdout if stream is None else stream):
        return text
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"


def columns_text(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns, the first row being the header.

    >>> print(columns_text([("NAME", "KIND"), ("text.word_count", "filter")]))
    NAME             KIND
    text.word_count  filter
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    header, *body = lines
    return "\n".join([paint(header, "bold"), *body])
