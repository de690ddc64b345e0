"""Compare JSON lines parsers and writers with curator's, on generated documents, one thread, in one sitting.

Cases are interleaved and the best of several rounds counts, so that noise of the machine hits all alike; read ratios.

    python benchmarks/io.py [--quick] [--json] [--megabytes N]
"""

from __future__ import annotations

import os

# Before polars is imported: it sizes its pool once.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import argparse
import io
import json
import random
import tempfile
import time
from pathlib import Path

import msgspec
import orjson
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from curator_core.authoring.tasks import FileSlice
from curator_table import read_csv, read_jsonl, read_parquet, write_csv, write_jsonl, write_parquet


def documents(size_bytes: int, seed: int = 0) -> bytes:
    """Make JSON lines that look like a web corpus: Zipfian words, log-normal lengths, some escapes, a nested field."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("etaoinshrdlucmfwypvbgk", k=draw.randint(2, 11))) for _ in range(20_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    lines: list[str] = []
    size = 0
    while size < size_bytes:
        number = len(lines)
        chosen = draw.choices(words, weights, k=int(draw.lognormvariate(5.5, 1.0)) + 5)
        text = " ".join(chosen)
        if number % 3 == 0:
            text = text.replace(" ", "\n\n", 3) + ' “quoted” — "escaped" 日本語'
        record = {
            "id": f"doc-{number}",
            "url": f"https://example.org/{number}/{chosen[0]}",
            "text": text,
            "score": draw.random(),
            "words": len(chosen),
            "date": f"2024-01-0{1 + number % 9} 10:00:00",
            "meta": {"lang": "en", "tags": ["a", "b"]},
        }
        lines.append(json.dumps(record, ensure_ascii=number % 4 == 0))
        size += len(lines[-1]) + 1
    return ("\n".join(lines) + "\n").encode()


def parsers(path: Path) -> dict:
    data = path.read_bytes()
    options = pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1)
    lines = msgspec.json.Decoder()
    return {
        "read: curator": lambda: list(read_jsonl(FileSlice(str(path)))),
        "read: pyarrow": lambda: pa.json.read_json(io.BytesIO(path.read_bytes()), read_options=options),
        "read: polars (types from 100 rows)": lambda: pl.read_ndjson(path),
        "read: polars (types from all rows)": lambda: pl.read_ndjson(path, infer_schema_length=None),
        "read: orjson": lambda: pa.Table.from_pylist([orjson.loads(line) for line in path.open("rb")]),
        "read: msgspec": lambda: pa.Table.from_pylist(lines.decode_lines(path.read_bytes())),
    }


def writers(table: pa.Table, folder: Path) -> dict:
    frame = pl.from_arrow(table)
    rows = folder / "rows.jsonl"

    def with_orjson() -> None:
        with rows.open("wb") as file:
            file.writelines(orjson.dumps(row) + b"\n" for row in table.to_pylist())

    return {
        "write: curator (atomic, synced)": lambda: write_jsonl(table, str(folder / "a.jsonl")),
        "write: polars": lambda: frame.write_ndjson(folder / "b.jsonl"),
        "write: orjson": with_orjson,
        "write: curator .zst": lambda: write_jsonl(table, str(folder / "a.jsonl.zst")),
        "write: curator .gz": lambda: write_jsonl(table, str(folder / "a.jsonl.gz")),
    }


def other_formats(table: pa.Table, folder: Path) -> dict:
    flat = table.drop_columns(["meta"])
    parquet, csv = str(folder / "a.parquet"), str(folder / "a.csv")
    write_parquet(table, parquet)
    write_csv(flat, csv)
    return {
        "parquet write: curator": lambda: write_parquet(table, parquet),
        "parquet write: pyarrow": lambda: pa.parquet.write_table(table, folder / "b.parquet", compression="zstd"),
        "parquet read: curator": lambda: list(read_parquet(FileSlice(parquet))),
        "parquet read: pyarrow": lambda: pa.parquet.read_table(parquet, use_threads=False),
        "csv read: curator": lambda: list(read_csv(FileSlice(csv))),
        "csv read: pyarrow": lambda: pa.csv.read_csv(
            csv,
            read_options=pa.csv.ReadOptions(use_threads=False),
            parse_options=pa.csv.ParseOptions(newlines_in_values=True),
        ),
    }


def measure(cases: dict, size_bytes: int, rounds: int) -> dict[str, float]:
    """Return the megabytes of JSON lines per second of every case, best of ``rounds`` interleaved ones."""
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(rounds):
        for name, case in cases.items():
            start = time.perf_counter()
            case()
            best[name] = min(best[name], time.perf_counter() - start)
    return {name: round(size_bytes / seconds / 1e6, 1) for name, seconds in best.items()}


def ratios(speed: dict[str, float]) -> dict[str, float]:
    """Return curator's speed over each peer's."""
    out = {}
    for kind in ("read", "write", "parquet write", "parquet read", "csv read"):
        ours = next(value for name, value in speed.items() if name.startswith(f"{kind}: curator"))
        peers = {name: value for name, value in speed.items() if name.startswith(f"{kind}: ") and "curator" not in name}
        out |= {f"curator / {name}": round(ours / value, 2) for name, value in peers.items()}
    return out


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--quick", action="store_true", help="4 MB and 2 rounds instead of 30 MB and 7")
    arguments.add_argument("--json", action="store_true", help="print one JSON object")
    arguments.add_argument("--megabytes", type=int)
    options = arguments.parse_args()
    pa.set_cpu_count(1)
    size = (options.megabytes or (4 if options.quick else 30)) * 10**6
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "documents.jsonl"
        path.write_bytes(documents(size))
        table = pa.concat_tables(read_jsonl(FileSlice(str(path)))).drop_columns(["_source", "_row"])
        cases = parsers(path) | writers(table, folder) | other_formats(table, folder)
        speed = measure(cases, path.stat().st_size, 2 if options.quick else 7)
    result = {"unit": "MB of JSON lines per second, one thread", "cases": speed, "ratios": ratios(speed)}
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for name, value in speed.items():
        print(f"{name:40}{value:10.0f} MB/s")
    for name, value in result["ratios"].items():
        print(f"{name:58}{value:6.2f}")


if __name__ == "__main__":
    main()
