"""The report as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def text(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines: list[str] = []
    for part, figures in report["parts"].items():
        lines += ["", part, *_lines(figures, "  ")]
    lines += ["", "ratios", *(f"  {name:100}{value:10.2f}" for name, value in report["ratios"].items())]
    lines += ["", "targets", *(_target(name, each) for name, each in report["targets"].items())]
    return "\n".join(lines[1:])


def _target(name: str, each: dict[str, Any]) -> str:
    wanted = f"at least {each['min_value']:g}" if "min_value" in each else f"at most {each['max_value']:g}"
    return f"  {'met ' if each['is_met'] else 'MISS'} {name:100} {each['found']:8.2f} ({wanted})"


def _lines(figures: Any, indent: str) -> Iterator[str]:
    if not isinstance(figures, dict):
        yield f"{indent}{figures}"
        return
    flat = {name: value for name, value in figures.items() if not isinstance(value, dict)}
    if flat:
        yield indent + "  ".join(f"{name} {value}" for name, value in flat.items())
    for name, value in figures.items():
        if isinstance(value, dict):
            yield f"{indent}{name}"
            yield from _lines(value, indent + "  ")
