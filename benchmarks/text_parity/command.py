"""The command line of the comparison of decisions."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine_comparison.environments import cache_folder
from text_comparison.our_stages import missing_stages
from text_corpora.descriptions import short_documents
from text_corpora.pages import web_length_documents
from text_corpora.sources import source_files

from text_parity import datatrove, nemo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from text_parity.agreement import Agreement

PARTS = ("datatrove", "nemo", "code")


def main(description: str, arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and return 1 where something agrees less than it has to."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--part", default=",".join(PARTS), help=f"any of {','.join(PARTS)}")
    parser.add_argument("--cache", help="folder of corpora and peers' environments; CURATOR_BENCHMARKS_CACHE otherwise")
    options = parser.parse_args(arguments)
    if options.cache:
        os.environ["CURATOR_BENCHMARKS_CACHE"] = str(Path(options.cache).resolve())
    found: list[Agreement] = []
    for each in _compared(options.part.split(",")):
        print(_line(each), file=sys.stderr, flush=True)
        found.append(each)
    missing = missing_stages()
    if options.json:
        print(json.dumps({"missing": missing, "filters": [each.to_dict() for each in found]}, indent=2))
    else:
        print("\n".join([*(_line(each) for each in found), *(f"there is no stage text.{name}" for name in missing)]))
    return int(bool(missing) or not all(each.is_enough for each in found))


def _compared(parts: Sequence[str]) -> Iterator[Agreement]:
    folder = cache_folder() / "corpora"
    prose = [web_length_documents(folder), short_documents(folder)]
    if "datatrove" in parts:
        for words in datatrove.MIN_FRACTION:
            for corpus in prose:
                yield from datatrove.quality(corpus, words)
    if "nemo" in parts:
        for corpus in prose:
            yield from nemo.prose(corpus)
    if "code" in parts:
        yield from nemo.code(source_files(folder))


def _line(each: Agreement) -> str:
    mark = "ok  " if each.is_enough else "MISS"
    left_out = f", {each.left_out} left out" if each.left_out else ""
    figures = f"{each.fraction:10.4%} of {each.documents:6} (at least {each.min_fraction:.0%}{left_out})"
    ways: Any = "; ".join(f"{count} x {way}" for way, count in list(each.differences.items())[:4])
    return f"{mark} {each.corpus:6} {each.filter_name:36} {figures} {ways}"
