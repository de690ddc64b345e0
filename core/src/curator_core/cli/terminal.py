"""Data to standard output, messages to standard error, colour only where a person looks, and nothing of others' making.

Everything that a command writes passes a :class:`TerminalWriter`, which shows control characters as escapes: text
comes from data, file names, pipeline files, plugins and exceptions, and none of them may speak to the terminal.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from curator_core.values.redaction import redact, redact_hidden
from curator_core.values.terminal_text import visible, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "TerminalWriter",
    "columns_text",
    "paint",
    "print_data",
    "print_json",
    "print_message",
    "safe_output",
    "uses_colour",
    "warning",
]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# Tells our own styles from those that a text brings along: nobody can know it before the process has started.
_OURS = secrets.token_hex(8)
_STYLE = re.compile(rf"\x1b\[{_OURS}:(\d+)m")


class TerminalWriter:
    """A text stream that shows control characters as escapes; only our own styles get through."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._target: Any = stream
        self._ends_line = True

    def write(self, text: str) -> int:
        """Write text, made visible."""
        if text:
            pieces = _STYLE.split(text)  # text, code, text, code, …
            pieces[::2] = map(visible, pieces[::2])
            pieces[1::2] = [f"\x1b[{code}m" for code in pieces[1::2]]
            self._target.write("".join(pieces))
            self._ends_line = text.endswith("\n")
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts, made visible."""
        for line in lines:
            self.write(line)

    @contextmanager
    def through(self, target: Any) -> Iterator[None]:
        """Send what is written to another stream for a while, such as one that prints above a live table."""
        self._target = target
        try:
            yield
        finally:
            if not self._ends_line:
                self.write("\n")
            self._target = self.stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def safe_output() -> Iterator[None]:
    """Make everything that is written to standard output and standard error safe to show, whoever writes it."""
    before = sys.stdout, sys.stderr
    # Typed as what they stand for: they offer the rest of a stream's methods by passing them on.
    sys.stdout, sys.stderr = (
        # None, where a process was started without the stream.
        each if each is None or isinstance(each, TerminalWriter) else cast("TextIO", TerminalWriter(each))
        for each in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def print_data(text: str) -> None:
    """Write a result to standard output, without the values of variables that are hidden.

    >>> print_data("text.word_count")
    text.word_count
    """
    sys.stdout.write(f"{redact_hidden(text)}\n")


def print_json(value: Any) -> None:
    """Write a result to standard output as one JSON value, in printable ASCII so that every terminal takes it.

    >>> print_json({"kept": 3})
    {
      "kept": 3
    }
    """
    print_data(json.dumps(value, indent=2, default=str).replace("\x7f", "\\u007f"))  # the one that JSON leaves as it is


def print_message(text: str) -> None:
    """Write a message to standard error, without the secrets in it.

    >>> print_message("3 plugins")  # goes to standard error
    """
    sys.stderr.write(f"{redact(text)}\n")
    sys.stderr.flush()


def warning(text: str) -> None:
    """Write a warning to standard error."""
    print_message(f"{paint('warning:', 'yellow', stream=sys.stderr)} {text}")


def uses_colour(stream: TextIO) -> bool:
    """Return whether to colour what goes to a stream: a terminal, unless ``NO_COLOR`` says otherwise."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def paint(text: str, style: str, *, stream: TextIO | None = None) -> str:
    """Return the text in a style, if the stream (standard output unless given) shows styles.

    The style is one that :class:`TerminalWriter` knows to be ours.

    >>> import io
    >>> paint("3 dropped", "red", stream=io.StringIO())  # not a terminal
    '3 dropped'
    """
    if not uses_colour(sys.stdout if stream is None else stream):
        return text
    return f"\x1b[{_OURS}:{_CODES[style]}m{text}\x1b[{_OURS}:0m"


def columns_text(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns, the first row being the header.

    >>> print(columns_text([("NAME", "KIND"), ("text.word_count", "filter")]))
    NAME             KIND
    text.word_count  filter
    """
    rows = [[visible_line(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    header, *body = lines
    return "\n".join([paint(header, "bold"), *body])
