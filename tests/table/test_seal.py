"""Sealed files: any byte that changes is noticed, other programs read them as ever, and a projection stays cheap."""

import io
import random

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator_core.authoring.recording import Recording
from curator_core.authoring.tasks import FileSlice
from curator_core.values.errors import DataError
from curator_table import read_arrow, read_parquet, write_arrow, write_parquet
from curator_table.seal import PARQUET_FOOTER, SealedFile, SealingFile

KINDS = {"parquet": (read_parquet, write_parquet), "arrow": (read_arrow, write_arrow)}
every_kind = pytest.mark.parametrize("kind", KINDS)


def table_of(rows):
    return pa.table({"n": list(range(rows)), "text": [f"text {n} " * (n % 9) for n in range(rows)]})


def read(path, reader, **options):
    recording = Recording()
    with recording.active():
        try:
            tables = list(reader(FileSlice(str(path)), **options))
        except DataError as error:
            return [], [error]
    return [row for table in tables for row in table["n"].to_pylist()], recording.bad_records


@every_kind
def test_each_single_byte_that_changes_is_noticed(tmp_path, kind):
    reader, writer = KINDS[kind]
    path = tmp_path / f"a.{kind}"
    writer(table_of(40), str(path))
    whole = path.read_bytes()
    assert read(path, reader) == (list(range(40)), [])
    for position in range(len(whole)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
        rows, bad = read(path, reader)
        assert bad, f"byte {position} of {len(whole)}"
        assert not rows


@every_kind
def test_other_programs_read_sealed_files(tmp_path, kind):
    _, writer = KINDS[kind]
    path = tmp_path / f"a.{kind}"
    table = table_of(5000)
    writer(table, str(path))
    read_back = {"parquet": pq.read_table, "arrow": lambda file: pa.ipc.open_file(file).read_all()}[kind]
    assert read_back(path).replace_schema_metadata(None).equals(table)
    scan = {"parquet": pl.read_parquet, "arrow": pl.read_ipc}[kind]
    assert scan(path).to_arrow().to_pylist() == table.to_pylist()
    if kind == "arrow":
        with pa.memory_map(str(path)) as file:
            assert pa.ipc.open_file(file).read_all().num_rows == 5000


def test_damage_in_one_row_group_leaves_the_others_also_beside_the_footer(tmp_path, monkeypatch):
    monkeypatch.setattr("curator_table.parquet.parquet_files._ROW_GROUP_BYTES", 100_000)
    path = tmp_path / "groups.parquet"
    noise = [random.Random(n).randbytes(100).hex() for n in range(4000)]
    write_parquet(pa.table({"n": list(range(4000)), "text": noise}), str(path))
    metadata = pq.ParquetFile(path).metadata
    assert metadata.num_row_groups > 5
    last = metadata.row_group(metadata.num_row_groups - 1).column(1)
    data = bytearray(path.read_bytes())
    data[(last.dictionary_page_offset or last.data_page_offset) + last.total_compressed_size // 2] ^= 1
    path.write_bytes(data)
    rows, bad = read(path, read_parquet)
    assert 1000 < len(rows) < 4000
    assert rows == list(range(len(rows)))
    assert {record.error_type for record in bad} == {"CorruptParquet"}


def test_a_projection_reads_and_checks_only_its_columns(tmp_path):
    path = tmp_path / "wide.parquet"
    noise = [random.Random(n).randbytes(100).hex() for n in range(5000)]
    write_parquet(pa.table({"wide": noise, "n": list(range(5000))}), str(path))
    data = bytearray(path.read_bytes())
    data[len(data) // 4] ^= 1
    path.write_bytes(data)
    assert read(path, read_parquet, columns=["n"]) == (list(range(5000)), [])
    rows, bad = read(path, read_parquet)
    assert (rows, [record.error_type for record in bad]) == ([], ["CorruptParquet"])


@given(
    writes=st.lists(st.integers(0, 150_000), max_size=6),
    reads=st.lists(st.tuples(st.integers(0, 300_000), st.integers(-1, 200_000)), max_size=8),
)
def test_what_is_read_is_what_was_written_wherever_one_reads(writes, reads):
    below = io.BytesIO()
    sink = SealingFile(below, PARQUET_FOOTER)
    expected = b""
    for number, size in enumerate(writes):
        sink.write(bytes([number + 1]) * size)
        expected += bytes([number + 1]) * size
    sink.begin_footer()
    footer = b"footer" + (6).to_bytes(4, "little") + b"PAR1"
    sink.write(footer)
    sink.finish()
    whole = below.getvalue()
    assert whole.startswith(expected)
    assert whole.endswith(footer)
    file = SealedFile(io.BytesIO(whole), PARQUET_FOOTER, "a.parquet")
    assert file.is_sealed
    for position, size in reads:
        file.seek(position)
        assert file.read(size) == (whole[position:] if size < 0 else whole[position : position + size])
