"""What is wrong with a file, with its place: all of it is reported at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from curator_core.values.errors import ConfigError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from curator_core.values.errors import CuratorError

__all__ = ["Fault", "Path", "Problem", "did_you_mean", "one_line", "raise_problems", "render_path"]

Path = tuple["str | int", ...]
"""Where a value is in a document: keys and positions from the top."""


@dataclass(frozen=True)
class Fault:
    """Something wrong inside a value, before it is known in which file the value stands."""

    path: Path  # from the top of the value
    what: str


@dataclass(frozen=True)
class Problem:
    """Something wrong in a file."""

    what: str
    where: str = ""  # such as stages[2] text.word_count.min_words
    line: int | None = None  # counted from one

    def render(self, source: str) -> str:
        """Return the problem on one line, as compilers write them."""
        place = source if self.line is None else f"{source}:{self.line}"
        return ": ".join(part for part in (place, self.where, self.what) if part)


def raise_problems(problems: Sequence[Problem], source: str) -> None:
    """Raise one error that lists the problems, in the order of the file; do nothing when there are none."""
    if problems:
        in_order = sorted(problems, key=lambda problem: problem.line or 0)
        raise ConfigError("\n".join(problem.render(source) for problem in in_order))


def render_path(path: Path) -> str:
    """Return a path as people write it.

    >>> render_path(("stages", 2, "text.word_count", "min_words"))
    'stages[2] text.word_count.min_words'
    """
    if len(path) > 2 and path[0] == "stages":  # noqa: PLR2004 - the list, the position, then what is inside
        return f"{render_path(path[:2])} {render_path(path[2:])}"
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a hint with the nearest known names, or nothing.

    >>> did_you_mean("min_word", ["min_words", "max_words"])
    ", did you mean 'min_words' or 'max_words'?"
    """
    close = nearest(str(name), known)
    return f", did you mean {' or '.join(repr(each) for each in close)}?" if close else ""


def one_line(error: CuratorError) -> str:
    """Return an error with its fix on one line."""
    return f"{error.message} (fix: {error.fix})" if error.fix else error.message
