"""How many times as fast ours is, in two senses, and the lines that it has to reach.

*In memory*: texts in memory to the numbers of duplicates, as the peers are built. *From file to file*: reading the same
Parquet file and writing the documents that are left are added to every peer's time; ours is the whole workflow, with
its table of duplicates, its ledger and every file synced to disk.

Both sides have one core, and rates are by CPU time, which other work on the machine disturbs less than the clock; the
cases have the seconds of the clock, too. Two cores against one, exact, semantic and scale are by the clock.
"""

from __future__ import annotations

from typing import Any

from text_comparison.targets import Target

from dedup_comparison.corpora import SIZES
from dedup_comparison.environments import PEERS

_MIN_RATIOS = {"datatrove": 40.0, "rensa": 5.0, "daft": 3.0}


def ratios(cases: dict[str, Any]) -> dict[str, float]:
    """Return the figures that matter, of the cases that were measured."""
    found: dict[str, float] = {}
    for size in SIZES:
        found |= _text_ratios(cases, size)
    exact, semantic, scale = (cases.get(name, {}) for name in ("exact", "semantic", "scale"))
    if "seconds" in exact:
        found["exact, ours / polars unique, both in memory"] = exact["polars_seconds"] / exact["in_memory_seconds"]
        found["exact, from file, ours / polars unique in memory"] = exact["polars_seconds"] / exact["seconds"]
        found["exact, ours / polars unique, both from file"] = exact["polars_from_file_seconds"] / exact["seconds"]
        found["exact, peak MB"] = exact["peak_mb"]
    if "seconds" in semantic:
        found["semantic, fraction of planted duplicates found"] = semantic["found"] / semantic["planted"]
        peer = cases.get("semantic scikit-learn", {})
        if "seconds" in peer:
            found["semantic, ours / scikit-learn and numpy"] = peer["seconds"] / semantic["seconds"]
    if "seconds" in scale:
        found["scale, peak MB"] = scale["peak_mb"]
        found["scale, MB/s"] = scale["megabytes"] / scale["seconds"]
    return {name: round(value, 3) for name, value in found.items()}


def _text_ratios(cases: dict[str, Any], size: str) -> dict[str, float]:
    def rate(name: str, time: str) -> float:
        case = cases.get(name, {})
        return case["megabytes"] / case[time] if time in case else 0.0

    found: dict[str, float] = {}
    for unit in ("word", "char"):
        found[f"signatures {size} {unit}, MB per CPU second"] = rate(f"signatures {size} {unit}", "cpu_seconds")
    verified = rate(f"memory {size} ours verified", "cpu_seconds")
    unverified = rate(f"memory {size} ours unverified", "cpu_seconds")
    whole = rate(f"files {size} ours 1 held", "cpu_seconds")
    found[f"memory {size}, MB per CPU second, verified"] = verified
    found[f"memory {size}, MB per CPU second, not verified"] = unverified
    found[f"files {size}, MB per CPU second"] = whole
    found[f"files {size}, MB per CPU second, read in every pass"] = rate(f"files {size} ours 1 read", "cpu_seconds")
    one, two = (rate(f"files {size} ours {cores} held", "seconds") for cores in (1, 2))
    found[f"files {size}, 2 cores / 1"] = two / one if one else 0.0
    for peer in PEERS:
        alone = rate(f"fuzzy {size} {peer}", "cpu_seconds")
        with_files = rate(f"fuzzy {size} {peer}", "cpu_with_files")
        if alone:
            found[f"memory {size}, ours verified / {peer}"] = verified / alone
            found[f"memory {size}, ours not verified / {peer}"] = unverified / alone
            found[f"files {size}, ours verified / {peer}"] = whole / with_files
    recall = cases.get(f"recall {size}", {})
    if recall and "error" not in recall:
        found[f"recall {size}, mean deviation from theory"] = abs(recall["mean_deviation"])
        found[f"recall {size}, removed without a partner"] = recall["removed_without_partner"]
    return {name: value for name, value in found.items() if value or name.startswith("recall")}


TARGETS = (
    *(Target(f"signatures {size} {unit}, MB per CPU second", 150.0) for size in SIZES for unit in ("word", "char")),
    *(
        Target(f"{boundary} {size}, ours verified / {peer}", least)
        for boundary in ("memory", "files")
        for size in SIZES
        for peer, least in _MIN_RATIOS.items()
    ),
    *(Target(f"files {size}, 2 cores / 1", 1.7) for size in SIZES),
    *(Target(f"recall {size}, mean deviation from theory", max_value=2.0) for size in SIZES),
    *(Target(f"recall {size}, removed without a partner", max_value=0.0) for size in SIZES),
    Target("exact, ours / polars unique, both in memory", 1.0),
    Target("exact, from file, ours / polars unique in memory", 1.0),
    Target("semantic, ours / scikit-learn and numpy", 1.0),
    Target("semantic, fraction of planted duplicates found", 1.0),
    Target("scale, peak MB", max_value=3_000.0),
)


def met(found: dict[str, float]) -> dict[str, bool]:
    """Return whether each line that was measured is reached."""
    return {target.ratio: target.is_met(found[target.ratio]) for target in TARGETS if target.ratio in found}
