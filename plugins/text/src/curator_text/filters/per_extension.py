"""Drop source files by limits that depend on the language and the extension."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from curator_core.sdk import ConfigError, Filter, Verdict
from curator_text.filters.rules import ratio
from curator_text.metrics.code import CODE_LINES

if TYPE_CHECKING:
    from curator_core.sdk import NodeInfo, TableBatch

__all__ = ["ExtensionLimits", "PerExtension", "read_limits"]

MAX_MEAN_LINE = 100
"""Longest mean line wherever the longest line is limited; NeMo Curator's, after StarCoder."""


@dataclass(frozen=True)
class ExtensionLimits:
    """Limits for the files of one extension; None is no limit.

    Args:
        include: Whether such files are kept at all.
        max_line_chars: Maximum number of characters in a line.
        min_alphanumeric_fraction: Smallest fraction of ASCII letters, digits, newlines and ``? ! , .``.
        min_letter_fraction: Smallest fraction of letters of any script.
    """

    include: bool
    max_line_chars: int | None = None
    min_alphanumeric_fraction: float | None = None
    min_letter_fraction: float | None = None


@dataclass
class PerExtension(Filter):
    r"""Keep source files that meet the limits for their language and extension.

    The limits are those of a CSV file with the columns ``language``, ``extension``, ``Include`` (1 or 0),
    ``Long_line_threshold``, ``Alphanum_threshold`` and ``Alpha filter``, where empty means no limit: the table that
    StarCoder was made with (Li et al. 2023, section 3.1) and that NeMo Curator ships as ``code_meta.csv``. Where lines
    have a limit, their mean length must not be more than 100. The score is one for a file that is kept and zero for
    one that is not. This is NeMo Curator's ``PerExtensionFilter``, which raises on an empty file where there is a limit
    on alphanumeric characters; ours scores one.

    >>> import tempfile
    >>> from curator_text import DocumentBatch
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv", encoding="utf-8") as file:
    ...     _ = file.write("language,extension,Include,Long_line_threshold,Alphanum_threshold,Alpha filter\n")
    ...     _ = file.write("python,py,1,20,,\n")
    ...     file.flush()
    ...     stage = PerExtension(language="python", extension="py", metadata_file=file.name)
    ...     kept = stage.process(DocumentBatch(data={"text": ["x = 1", "x = " + "1" * 20]}))
    >>> kept.data["text"].to_pylist()
    ['x = 1']

    Args:
        language: Language of the files; case does not matter. C# and F# are ``c-sharp`` and ``f-sharp`` in the table.
        extension: Extension without its dot; empty for files without one.
        metadata_file: CSV file with the limits. Files of an extension that is not in it are dropped.
        text_column: Column with the source code.
    """

    language: str
    extension: str
    metadata_file: str
    text_column: str = "text"

    name = "text.per_extension"

    def preflight(self) -> None:
        """Read the limits, so that a missing file ends the run before it starts."""
        _ = self._limits

    def setup_on_node(self, node: NodeInfo) -> None:  # noqa: ARG002 - the same on every node
        CODE_LINES.prepare()

    def judge(self, batch: TableBatch) -> Verdict:
        reasons = CODE_LINES.of(batch, self.text_column).select(**self._checks())
        is_kept = pl.when(pl.first().is_not_null()).then(~pl.any_horizontal(pl.all())).cast(pl.Int64)
        return Verdict(reasons.select(kept=is_kept)["kept"], reasons.to_dict())

    def _checks(self) -> dict[str, pl.Expr]:
        """Return, for each reason, which files to drop."""
        limits = self._limits
        checks = {"extension_not_included": pl.lit(not limits.include) & (pl.col("lines") > 0)}
        if limits.max_line_chars:
            mean = (pl.col("chars") + 1) / pl.col("lines") - 1
            checks["line_too_long"] = pl.col("longest_line") > limits.max_line_chars
            checks["mean_line_too_long"] = mean > MAX_MEAN_LINE
        if limits.min_alphanumeric_fraction:
            found = ratio("ascii_content_chars", "chars", of_nothing=1.0)
            checks["too_few_alphanumeric"] = found < limits.min_alphanumeric_fraction
        if limits.min_letter_fraction:
            checks["too_few_letters"] = pl.col("letters") < limits.min_letter_fraction * pl.col("chars")
        return checks

    @cached_property
    def _limits(self) -> ExtensionLimits:
        return read_limits(self.metadata_file, self.language, self.extension)


def read_limits(path: str, language: str, extension: str) -> ExtensionLimits:
    """Return the limits for an extension.

    Raises:
        ConfigError: The file cannot be read, lacks a column, or has no row for the language.
    """
    wanted = {"c#": "c-sharp", "f#": "f-sharp"}.get(language.lower(), language.lower().replace(" ", "-"))
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["language"] == wanted]
            found = [_limits_of(row) for row in rows if row["extension"] == extension]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(
            f"text.per_extension: cannot read {path}: {error}", fix="name a CSV file with limits"
        ) from error
    except KeyError as error:
        raise ConfigError(f"text.per_extension: {path} has no column {error}") from error
    if not rows:
        raise ConfigError(f"text.per_extension: {path} has no row for language {wanted!r}")
    return found[-1] if found else ExtensionLimits(include=False)


def _limits_of(row: dict[str, str]) -> ExtensionLimits:
    long_line = _number(row["Long_line_threshold"])
    return ExtensionLimits(
        include=row["Include"] == "1",
        max_line_chars=None if long_line is None else int(long_line),
        min_alphanumeric_fraction=_number(row["Alphanum_threshold"]),
        min_letter_fraction=_number(row["Alpha filter"]),
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
