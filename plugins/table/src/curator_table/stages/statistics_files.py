"""The files of ``table.statistics``: one of numbers for each task, and a summary of all."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from curator_core.sdk import ConfigError, DataError, Histogram, atomic_output, list_files, open_filesystem

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from curator_core.sdk import FileEntry

__all__ = ["ALL", "Numbers", "merge_parts", "read_quantiles", "write_json", "write_summary"]

ALL = "(all)"
"""Name of the group that every row belongs to."""
_BINS_PER_OCTAVE = 32
"""Quantiles are right to one part in 45 (2.2 %)."""
_QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
_BLOCKS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_CHART_WIDTH = 32
FOLDER = "parts"


@dataclass
class Numbers:
    """Statistics of some numbers: count, sum and distribution."""

    histogram: Histogram = field(default_factory=lambda: Histogram(bins_per_octave=_BINS_PER_OCTAVE))
    nulls: int = 0
    total: float = 0.0

    def add(self, values: pl.Series) -> None:
        """Add a column of numbers; nulls, NaNs and infinities are counted only."""
        finite = values.filter(values.is_finite()) if values.dtype.is_float() else values.drop_nulls()
        self.histogram.add(finite)
        self.nulls += len(values) - len(finite.drop_nulls())
        self.total += float(finite.sum() or 0)

    def merge(self, other: Numbers) -> None:
        """Add the statistics of other numbers."""
        self.histogram.merge(other.histogram)
        self.nulls += other.nulls
        self.total += other.total

    def to_plain(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        known = self.histogram
        limits = {"min": known.minimum, "max": known.maximum} if known.count else {}
        return {"nulls": self.nulls, "total": self.total, **limits, "bins": sorted(known.bins.items())}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Numbers:
        """Return the statistics that :meth:`to_plain` has made plain data of."""
        bins = Counter({int(index): int(count) for index, count in plain["bins"]})
        limits = (plain.get("min", math.inf), plain.get("max", -math.inf))
        known = Histogram(bins, sum(bins.values()), *limits, bins_per_octave=_BINS_PER_OCTAVE)
        return cls(known, plain["nulls"], plain["total"])

    def summary(self) -> dict[str, Any]:
        """Return count, mean, limits, quantiles and the histogram as pairs of an upper edge and a count."""
        known = self.histogram
        if not known.count:
            return {"count": 0, "nulls": self.nulls}
        return {
            "count": known.count,
            "nulls": self.nulls,
            "mean": self.total / known.count,
            "min": known.minimum,
            **{f"p{fraction * 100:g}": known.quantile(fraction) for fraction in _QUANTILES},
            "max": known.maximum,
            "histogram": [[known.upper_edge(index), known.bins[index]] for index in sorted(known.bins)],
        }


def merge_parts(folder: str) -> dict[str, Any]:
    """Return the summary of all parts in a folder of statistics; one without parts is a summary of no rows.

    Raises:
        DataError: A part is damaged.
    """
    rows: Counter[str] = Counter()
    groups: dict[str, dict[str, Numbers]] = {}
    by = None
    for entry in _parts(folder):
        filesystem, inner = open_filesystem(entry.path)
        try:
            part = json.loads(filesystem.cat_file(inner))
            by = part["by"]
            for group, content in part["groups"].items():
                rows[group] += content["rows"]
                for metric, plain in content["metrics"].items():
                    groups.setdefault(group, {}).setdefault(metric, Numbers()).merge(Numbers.from_plain(plain))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"not a part of statistics: {error}", source=entry.path) from error
    return {
        "rows": rows[ALL],
        "by": by,
        "groups": {
            group: {"rows": rows[group], "metrics": {name: each.summary() for name, each in metrics.items()}}
            for group, metrics in sorted(groups.items(), key=lambda item: (item[0] != ALL, -rows[item[0]], item[0]))
        },
    }


def _parts(folder: str) -> list[FileEntry]:
    try:
        return list_files(f"{folder.rstrip('/')}/{FOLDER}", extensions=[".json"])
    except ConfigError:  # no rows came by
        return []


def write_summary(folder: str) -> None:
    """Merge the parts of a folder into ``summary.json``, and ``summary.txt`` for reading."""
    summary = merge_parts(folder)
    write_json(f"{folder.rstrip('/')}/summary.json", summary)
    with atomic_output(f"{folder.rstrip('/')}/summary.txt") as file:
        file.write(as_text(summary).encode("utf-8"))


def write_json(path: str, plain: Any) -> None:
    """Write plain data to a file that is whole or not there."""
    with atomic_output(path) as file:
        file.write(json.dumps(plain, ensure_ascii=False, allow_nan=False).encode("utf-8"))


def as_text(summary: dict[str, Any]) -> str:
    """Return a table of quantiles with a small chart for each metric and group."""
    shown = ("count", "mean", "min", "p5", "p50", "p95", "max")
    lines = [f"{summary['rows']:,} rows"]
    for group, content in summary["groups"].items():
        title = "all rows" if group == ALL else f"{summary['by']} = {group}"
        lines += ["", f"{title}: {content['rows']:,}", "  ".join([f"{'':24}", *(f"{name:>10}" for name in shown)])]
        for metric, numbers in content["metrics"].items():
            cells = [f"{_short(numbers[name]):>10}" if name in numbers else f"{'-':>10}" for name in shown]
            lines.append("  ".join([f"{metric[:24]:24}", *cells, _chart(numbers.get("histogram", []))]).rstrip())
    return "\n".join(lines) + "\n"


def _short(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"


def _chart(histogram: list[list[float]]) -> str:
    """Draw a histogram over its range, on its own logarithmic scale."""
    if not histogram:
        return ""
    columns = np.array_split(np.array([count for _, count in histogram]), min(_CHART_WIDTH, len(histogram)))
    heights = np.array([column.sum() for column in columns])
    steps = np.ceil(heights / heights.max() * (len(_BLOCKS) - 1)).astype(int)
    return "".join(_BLOCKS[step] for step in steps)


def read_quantiles(
    folder: str, columns: list[str], *, stage: str
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return, for each column, numbers and the fraction of rows that are no larger, from a folder of statistics.

    Raises:
        ConfigError: There are no statistics of a column.
    """
    groups = merge_parts(folder)["groups"]
    metrics = groups.get(ALL, {"metrics": {}})["metrics"]
    quantiles = {}
    for name in columns:
        histogram = metrics.get(name, {}).get("histogram")
        if not histogram:
            raise ConfigError(
                f"{stage}: {folder!r} has no statistics of {name!r}",
                fix=f"run table.statistics with columns: [{', '.join(columns)}] first",
            )
        edges, counts = (np.array(side, np.float64) for side in zip(*histogram, strict=True))
        quantiles[name] = (edges, np.cumsum(counts) / counts.sum())
    return quantiles
