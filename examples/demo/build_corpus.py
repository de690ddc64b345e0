"""Write a corpus of real text from this machine as JSONL shards: ``python build_corpus.py OUT_DIR [--max-mb 40]``."""

from __future__ import annotations

import argparse
import collections
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

from machine_text import all_documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from machine_text import Document

MEGABYTE = 1_000_000
SHARD_BYTES = 8 * MEGABYTE


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a corpus of real text found on this machine.")
    parser.add_argument("out_dir", type=Path, help="folder for the shards")
    parser.add_argument("--max-mb", type=float, default=40, help="stop at this many megabytes (default: 40)")
    args = parser.parse_args()

    kinds: collections.Counter[str] = collections.Counter()
    shards = write_shards(_records(all_documents(), kinds), args.out_dir, max_bytes=int(args.max_mb * MEGABYTE))
    found = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
    print(f"corpus: {sum(kinds.values()):,} documents ({found}) in {len(shards)} shards")


def write_shards(records: Iterable[bytes], out_dir: Path, *, max_bytes: int) -> list[Path]:
    """Write records to ``part-*.jsonl``, the first shard compressed, replacing the shards of an earlier run."""
    out_dir.mkdir(parents=True, exist_ok=True)
    for old in out_dir.glob("part-*.jsonl*"):
        old.unlink()
    shards: list[Path] = []
    for lines in _shards(records, max_bytes=max_bytes):
        shard = out_dir / f"part-{len(shards):05d}.jsonl"
        data = b"".join(lines)
        if not shards:
            shard = shard.with_suffix(".jsonl.gz")
            data = gzip.compress(data, mtime=0)
        shard.write_bytes(data)
        shards.append(shard)
    return shards


def _records(documents: Iterable[Document], kinds: collections.Counter[str]) -> Iterator[bytes]:
    for document in documents:
        kinds[document.kind] += 1
        yield json.dumps(vars(document), ensure_ascii=False).encode() + b"\n"


def _shards(records: Iterable[bytes], *, max_bytes: int) -> Iterator[list[bytes]]:
    """Group records into shards of some megabytes and stop when all of them together reach ``max_bytes``."""
    shard: list[bytes] = []
    shard_bytes = total_bytes = 0
    for record in records:
        shard.append(record)
        shard_bytes += len(record)
        total_bytes += len(record)
        if total_bytes >= max_bytes:
            break
        if shard_bytes >= SHARD_BYTES:
            yield shard
            shard, shard_bytes = [], 0
    if shard:
        yield shard


if __name__ == "__main__":
    main()
