"""Every error a user can meet, each saying what happened, where, and what to do about it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from curator_core.values.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ClusterError",
    "ConfigError",
    "CuratorError",
    "DataError",
    "LedgerError",
    "LocationError",
    "MissingPackageError",
    "OutputError",
    "PipelineError",
    "PluginError",
    "ResumeError",
    "RunInterrupted",
    "StageError",
    "TaskTimeoutError",
    "TooManyFailuresError",
    "UnknownNameError",
    "UnpicklableOutputError",
    "WorkerDiedError",
    "WorkerMemoryError",
    "nearest",
]

_SIMILAR = 0.6  # as difflib has it
_NEARLY_EQUAL = 0.8  # for stages of other plugins, offered where the one named has none that is similar


class CuratorError(Exception):
    """Base of all errors raised on purpose by curator.

    >>> print(CuratorError("the folder 'out' cannot be written to", fix="check your permissions"))
    the folder 'out' cannot be written to
      fix: check your permissions

    Args:
        message: What happened and where.
        fix: What the user can do about it, as one imperative sentence.
    """

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        message = redact(message)  # messages name files, and the names of some files hold passwords
        super().__init__(message)
        self.message = message
        self.fix = fix and redact(fix)

    def __str__(self) -> str:
        return f"{self.message}\n  fix: {self.fix}" if self.fix else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions pickle through their args, which do not carry keyword-only state.
        return (_rebuild, (type(self), self.message, self.fix, self.__dict__))


def _rebuild(kind: type[CuratorError], message: str, fix: str | None, state: dict[str, object]) -> CuratorError:
    message = redact(message)  # a worker does not know all that is hidden in this process
    error = kind.__new__(kind, message)
    Exception.__init__(error, message)
    error.__dict__.update(state, message=message, fix=fix and redact(fix))
    return error


class ConfigError(CuratorError):
    """A pipeline file, a parameter or an option is wrong.

    >>> ConfigError("max_words is -1", fix="use 0 or more").fix
    'use 0 or more'
    """


class ClusterError(CuratorError):
    """A Ray cluster cannot be reached, is not the one asked for, or lacks what a run needs."""


class PipelineError(CuratorError):
    """A pipeline cannot run as it is: found while building, before anything starts. ``stage`` names the stage."""

    def __init__(self, message: str, *, stage: str | None = None, fix: str | None = None) -> None:
        super().__init__(message, fix=fix)
        self.stage = stage


class PluginError(CuratorError):
    """A plugin is broken, blocked, incompatible or missing.

    >>> issubclass(MissingPackageError, PluginError)
    True
    """


class MissingPackageError(PluginError):
    """A stage needs a Python package that is not installed.

    >>> MissingPackageError("stage 'text.embed'", package="torch", pip='"curator-text[models]"').fix
    'pip install "curator-text[models]"'
    """

    def __init__(self, what: str, *, package: str, pip: str) -> None:
        super().__init__(f"{what} needs the package {package!r}, which is not installed", fix=f"pip install {pip}")
        self.package = package


class UnknownNameError(CuratorError):
    """A name matches nothing; the nearest known names are offered.

    >>> UnknownNameError("column", "txt", ["text", "url"]).close
    ['text']
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, fix: str | None = None) -> None:
        known = list(known)
        close = nearest(name, known)
        hint = f"; did you mean {' or '.join(repr(each) for each in close)}?" if close else ""
        super().__init__(f"unknown {kind} {name!r}{hint}", fix=fix)
        self.name = name
        self.close = close


class DataError(CuratorError):
    """A record or a file cannot be read: corrupt, truncated, of the wrong type or over a limit.

    >>> DataError("the record has no closing brace", source="a.jsonl", row=1024).message
    'a.jsonl:1024: the record has no closing brace'

    Args:
        message: What is wrong with it.
        source: Path or URI of the file.
        row: Record number or byte offset inside the file.
        fix: What the user can do about it.
    """

    def __init__(
        self, message: str, *, source: str | None = None, row: int | None = None, fix: str | None = None
    ) -> None:
        where = "" if source is None else f"{source}: " if row is None else f"{source}:{row}: "
        super().__init__(f"{where}{message}", fix=fix)
        self.source = source
        self.row = row


class LocationError(DataError):
    """A row names a file that data must not make a run open; see ``allowed_locations``.

    >>> LocationError("the row names a file of another folder", source="manifest.jsonl", row=3).row
    3
    """


class StageError(CuratorError):
    """A stage failed on a task under ``on_error="raise"``, or broke its contract.

    >>> StageError("stage 'acme.fetch' got no answer", fix="check the address").message
    "stage 'acme.fetch' got no answer"
    """


class TooManyFailuresError(StageError):
    """A larger fraction of a stage's rows failed than the run allows."""


class OutputError(StageError):
    """Output cannot be written: disk full, no permission, no such bucket. Ends the run; the data is not to blame."""


class UnpicklableOutputError(StageError):
    """A stage made a task that cannot leave its worker process, because it cannot be pickled or unpickled."""


class WorkerDiedError(StageError):
    """A task ends the worker processes that run it: killed, out of memory, or crashed in native code."""


class TaskTimeoutError(WorkerDiedError):
    """A task takes longer than its stage allows; the worker that had it was ended."""


class WorkerMemoryError(WorkerDiedError):
    """A task needs more memory than there is; the worker that had it was ended."""


class LedgerError(CuratorError):
    """The ledger of a run cannot be read or written, or another run is writing it."""


class ResumeError(CuratorError):
    """A run cannot be continued as it is: pipeline or input have changed, or there is nothing to continue from."""


class RunInterrupted(CuratorError):  # noqa: N818 - an interruption is not an error of the program
    """The user stopped the run."""


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three known names that look like ``name``, the most similar first.

    Of ``plugin.stage`` only the stage is compared: names of one plugin look alike for their beginning alone.

    >>> nearest("text.word_cuont", ["text.word_count", "table.read_jsonl"])
    ['text.word_count']
    >>> nearest("text.embed_images", ["text.mean_length", "image.embed_image"])
    ['image.embed_image']
    """
    plugin, _, stage = name.rpartition(".")
    own, others = [], []
    for each in known:
        its_plugin, _, its_stage = each.rpartition(".")
        similarity = difflib.SequenceMatcher(None, its_stage, stage).ratio()
        if its_plugin == plugin and similarity >= _SIMILAR:
            own.append((-similarity, each))
        elif similarity >= _NEARLY_EQUAL:
            others.append((-similarity, each))
    return [each for _, each in sorted(own or others)[:3]]
