"""Read bombs through pipelines and report, for each, what came of it and how far the memory of the process has grown.

Usage: python -m tests.chaos.bombs FOLDER NAME…    prints one JSON object per bomb.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import struct
import sys
import tarfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from curator_core import LocalExecutor, Pipeline, processing_stage
from curator_core.authoring.tasks import TableBatch  # noqa: TC001 - the stage's types are read from its annotations
from curator_core.files.compression import open_compressed
from curator_image import Probe, ReadFolder
from tests.support.peak_memory import peak_mib
from tests.support.plain_readers import ReadArrow, ReadCsv, ReadLines, ReadParquet

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 2**20
GOOD = b'{"text": "good"}\n'


def zstd(data: bytes) -> bytes:
    sink = io.BytesIO()
    with open_compressed(sink, "a.zst") as stream:
        stream.write(data)
    return sink.getvalue()


def png_claiming(width: int, height: int) -> bytes:
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = b"IDAT" + zlib.compress(b"")
    chunks = [struct.pack(">I", len(each) - 4) + each + struct.pack(">I", zlib.crc32(each)) for each in (header, body)]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def write_long_line(path: Path) -> None:
    with path.open("wb") as file:
        file.write(GOOD + b'{"text": "')
        for _ in range(1024):
            file.write(b"x" * MIB)
        file.write(b'"}\n' + GOOD)


def repeated(compress: Callable[[bytes], bytes], times: int) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(compress(bytes(64 * MIB)) * times)


def write_repeated_text(path: Path) -> None:
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["x" * MIB]))
    pq.write_table(pa.table({"text": text}), path, store_schema=False)


def write_repeated_lists(path: Path) -> None:
    lists = pa.ListArray.from_arrays(pa.array(range(3001), pa.int32()), pa.array(["x" * (MIB // 4)] * 3000))
    pq.write_table(pa.table({"texts": lists}), path)


def write_keys(path: Path) -> None:
    """A new key in every record, after honest ones: as a table, rows times keys."""
    path.write_text('{"a": 1}\n' * 1000 + "".join(f'{{"k{n}": 1}}\n' for n in range(9000)))


def write_objects(path: Path) -> None:
    items = ", ".join(f'{{"k{n % 900}": 1}}' for n in range(90_000))
    path.write_text(f'{{"a": 1}}\n{{"l": [{items}]}}\n')


def arrow_file(columns: Callable[[], dict[str, pa.Array]]) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        table = pa.table(columns())
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(str(path), table.schema, options=options) as writer:
            writer.write_table(table)

    return write


def runs_of(value: str, count: int) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int32()), pa.array([value]))


def references_to(value: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int8()), pa.array([value]))


def write_nulls(path: Path) -> None:
    pq.write_table(pa.table({"n": pa.nulls(2**26, pa.int32())}), path)


def write_deep_lines(path: Path) -> None:
    deep = b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    path.write_bytes(GOOD + deep + b'{"a":' * 1_000_000 + b"\n" + GOOD)


def write_archive(path: Path) -> None:
    """A good member, one that climbs out, links to files outside, and a bomb among them."""
    members = {"good.jsonl": GOOD, "../../escaped.jsonl": GOOD, "bomb.jsonl.gz": gzip.compress(bytes(64 * MIB)) * 32}
    links = {"climbing.jsonl": "../../../../../etc/passwd", "absolute.jsonl": "/etc/passwd"}
    with tarfile.open(path, "w") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)


BOMBS: dict[str, Callable[[Path], object]] = {
    "bomb.jsonl.zst": repeated(zstd, 64),
    "bomb.jsonl.gz": repeated(gzip.compress, 32),
    "bomb.jsonl.bz2": repeated(bz2.compress, 64),
    "bomb.jsonl.xz": repeated(lzma.compress, 16),
    "rows.jsonl.zst": lambda path: path.write_bytes(zstd(b"{}\n" * (60 * MIB))),
    "bomb.csv.zst": repeated(zstd, 64),
    "bomb.csv.gz": repeated(gzip.compress, 32),
    "bomb.csv.bz2": repeated(bz2.compress, 64),
    "deep.jsonl": write_deep_lines,
    "line.jsonl": write_long_line,
    "quote.csv": lambda path: path.write_bytes(b'text,n\ngood,1\n"' + b"x\n" * (40 * MIB)),
    "keys.jsonl": write_keys,
    "objects.jsonl": write_objects,
    "runs.arrow": arrow_file(lambda: {"text": runs_of("x", 2**30)}),
    "texts.arrow": arrow_file(lambda: {"text": runs_of("x" * MIB, 3000)}),
    "nulls.arrow": arrow_file(lambda: {"text": pa.nulls(2**30)}),
    "objects.arrow": arrow_file(lambda: {"o": pa.StructArray.from_arrays([references_to("x" * MIB, 3000)], ["text"])}),
    "wide.csv": lambda path: path.write_text(",".join(f"c{n}" for n in range(50_000)) + "\n" + "1\n" * 100_000),
    "nulls.parquet": write_nulls,
    "text.parquet": write_repeated_text,
    "lists.parquet": write_repeated_lists,
    "members.tar": write_archive,
    "pixels.png": lambda path: path.write_bytes(png_claiming(60_000, 60_000)),
}


@processing_stage(name="forget")
def forget_text(batch: TableBatch) -> TableBatch:
    return batch.with_data(batch.data.select(["_row"]))


def stages_for(path: Path) -> list[object]:
    if path.suffix == ".png":
        return [ReadFolder(str(path)), Probe()]
    if path.suffix == ".tar":
        return [ReadLines(f"tar://*.jsonl*::{path}")]
    if path.suffix in (".parquet", ".arrow"):
        reader = ReadParquet if path.suffix == ".parquet" else ReadArrow
        return [reader(str(path)), forget_text]
    return [ReadCsv(str(path)) if ".csv" in path.name else ReadLines(str(path))]


def run(path: Path) -> dict[str, object]:
    result = Pipeline("bomb", stages=stages_for(path)).run(LocalExecutor())
    return {
        "rows": sum(batch.num_rows for batch in result),
        "records": [[record.error_type, record.source, record.row, record.message] for record in result.quarantined],
    }


def main(folder: str, *names: str) -> None:
    path = Path(folder) / "good.jsonl"
    path.write_bytes(GOOD)
    run(path)
    (Path(folder) / "good.png").write_bytes(png_claiming(10, 10))
    run(Path(folder) / "good.png")
    for name in names:
        path = Path(folder) / name
        BOMBS[name](path)
        pa.default_memory_pool().release_unused()  # how much of it an allocator keeps depends on the moment
        base = peak_mib()
        outcome = run(path)
        sys.stdout.write(json.dumps({"name": name, "grown_mib": peak_mib() - base, **outcome}) + "\n")
        path.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
