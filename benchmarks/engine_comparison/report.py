"""Ratios between engines, and the report as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine_comparison.cases import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    Figures = dict[str, dict[str, dict[str, Any]]]

COMPARED = {
    "a": ("tasks_per_s",),
    "b": ("gb_per_s",),
    "c": ("steady_per_s", "steady_per_s_after_swap"),
    "g": ("rows_per_s",),
    "h": ("first_output_s",),
}
"""Figures by family, ours divided by each peer's: more is better, except for seconds."""
AGAINST_IDEAL = ("steady_of_ideal", "steady_of_ideal_after_swap", "wall_of_ideal", "store_of_bound")
"""Figures that are ratios by themselves."""


def ratios(cases: Figures) -> dict[str, float]:
    """Return ours over each peer's, ours fused over ours kept apart, and ours against the ideal."""
    return {name: round(value, 3) for name, value in _ratios(cases)}


def _ratios(cases: Figures) -> Iterator[tuple[str, float]]:
    for case, engines in cases.items():
        ours = engines.get("ours", {})
        for figure in COMPARED.get(case[0], ()):
            for peer, theirs in engines.items():
                if peer != "ours" and ours.get(figure) and theirs.get(figure):
                    yield f"{case}: {figure}, ours / {peer}", ours[figure] / theirs[figure]
            for peer, theirs in _slower_peers(cases, case, engines):
                if ours.get(figure) and theirs.get(figure):
                    yield f"{case}: {figure}, ours / {peer}", ours[figure] / theirs[figure]
            apart = cases.get(case.removesuffix(" fused"), {}).get("ours", {}).get(figure)
            if case.endswith(" fused") and apart and ours.get(figure):
                yield f"{case}: {figure}, fused / apart", ours[figure] / apart
        for figure in AGAINST_IDEAL:
            if ours.get(figure) is not None:
                yield f"{case}: {figure}, ours", ours[figure]


def _slower_peers(cases: Figures, case: str, engines: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the peers that ran only the smallest number of no-op tasks; their throughput does not depend on it."""
    smallest = next((name for name in cases if name[0] == "a"), "")
    if case[0] == "a" and case.split()[1:] != smallest.split()[1:] and not case.endswith("fused"):
        for peer, theirs in cases[smallest].items():
            if peer not in engines:
                yield f"{peer} at {smallest.split()[1]}", theirs


def text(report: dict[str, Any]) -> str:
    """Return the report for people."""
    lines: list[str] = []
    for family, title in FAMILIES.items():
        mine = {name: engines for name, engines in report["cases"].items() if name[0] == family}
        if mine:
            lines += ["", f"({family}) {title}"]
            lines += [line for name, engines in mine.items() for line in _case_lines(name, engines)]
    lines += ["", "ratios"]
    lines += [f"  {name:58}{value:10.3f}" for name, value in report["ratios"].items()]
    failed = [(case, *each) for case, engines in report["failures"].items() for each in engines.items()]
    if failed:
        lines += ["", "without result"]
        lines += [f"  {case:18} {engine:14} {reason}" for case, engine, reason in failed]
    return "\n".join(lines[1:])


def _case_lines(case: str, engines: dict[str, dict[str, Any]]) -> Iterator[str]:
    for engine, figures in engines.items():
        shown = [f"{name} {value}" for name, value in figures.items() if not isinstance(value, (list, dict))]
        yield f"  {case:18} {engine:14} {'  '.join(shown)}"
        for name, value in figures.items():
            if isinstance(value, dict):
                yield f"  {'':18} {'':14} {name}: " + "; ".join(f"{key} {each}" for key, each in value.items())
