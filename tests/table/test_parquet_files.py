"""Parquet: row groups survive their neighbours' corruption, and a flipped bit is never silently wrong."""

import io
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core.authoring.recording import Recording
from curator_core.authoring.tasks import FileSlice
from curator_core.files.paths import FileEntry
from curator_core.values.errors import DataError
from curator_table import FORMATS, read_parquet, write_parquet
from curator_table.parquet.parquet_files import parquet_group_sizes
from curator_table.parquet.row_group_faults import row_group_faults


def table_of(rows):
    return pa.table(
        {
            "text": [f"document {n} " * (n % 7) for n in range(rows)],
            "n": list(range(rows)),
            "score": [None if n % 3 else n / 2 for n in range(rows)],
            "tags": [[str(n), "x"] for n in range(rows)],
            "kind": pa.array(["a", "b"] * (rows // 2) + ["c"] * (rows % 2)).dictionary_encode(),
        }
    )


def read(path, **options):
    recording = Recording()
    with recording.active():
        try:
            tables = list(read_parquet(FileSlice(str(path)), **options))
        except DataError as error:
            return None, [error]
    return tables, recording.bad_records


def test_round_trip_keeps_types_and_numbers_rows(tmp_path):
    table = table_of(1000)
    path = tmp_path / "a.parquet"
    assert write_parquet(table, str(path)) == path.stat().st_size
    tables, bad = read(path)
    assert not bad
    assert pa.concat_tables(tables).drop_columns(["_source", "_row"]).equals(table)
    assert tables[0]["_row"].to_pylist() == list(range(1000))
    assert tables[0].schema.field("_source").type == pa.dictionary(pa.int32(), pa.string())
    write_parquet(table, str(tmp_path / "b.parquet"))
    assert (tmp_path / "b.parquet").read_bytes() == path.read_bytes()


@given(rows=st.integers(1, 300), group=st.integers(1, 80), block=st.integers(200, 20_000), batch=st.integers(1, 5000))
@settings(max_examples=40)
def test_splitting_by_row_group_gives_every_row_once(tmp_path_factory, rows, group, block, batch):
    path = tmp_path_factory.getbasetemp() / "split.parquet"
    pq.write_table(table_of(rows), path, row_group_size=group)
    entry = FileEntry(str(path), path.stat().st_size)
    got = []
    for pieces in FORMATS["parquet"].plan([entry], block_bytes=block):
        for piece in pieces:
            for table in read_parquet(piece, batch_bytes=batch):
                got += zip(table["n"].to_pylist(), table["_row"].to_pylist(), strict=True)
    assert got == [(n, n) for n in range(rows)]


def test_footers_are_read_only_for_files_larger_than_a_block(tmp_path):
    entry = FileEntry(str(tmp_path / "does-not-exist.parquet"), 100)
    assert len(list(FORMATS["parquet"].plan([entry], block_bytes=1000))) == 1


def test_a_corrupt_row_group_is_reported_at_its_first_row_and_the_others_come_out(tmp_path):
    path = tmp_path / "corrupt.parquet"
    pq.write_table(table_of(3000), path, row_group_size=1000, write_page_checksum=True)
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    middle = column.data_page_offset + column.total_compressed_size // 2
    data[middle] ^= 0x10
    path.write_bytes(data)
    tables, bad = read(path)
    assert [n for table in tables for n in table["n"].to_pylist()] == [*range(1000), *range(2000, 3000)]
    assert [n for table in tables for n in table["_row"].to_pylist()] == [*range(1000), *range(2000, 3000)]
    assert [(record.row, record.error_type) for record in bad] == [(1000, "CorruptParquet")]
    assert "row group 1, rows 1,000 to 1,999" in bad[0].message


def test_bit_flips_are_never_silently_wrong(tmp_path):
    table = table_of(600)
    path = tmp_path / "flipped.parquet"
    write_parquet(table, str(path))
    whole = path.read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    draw = random.Random(20240607)
    positions = [draw.randrange(len(whole)) for _ in range(400)]
    positions += [draw.randrange(len(whole) - footer, len(whole)) for _ in range(1200)]
    noticed = 0
    for position in positions:
        data = bytearray(whole)
        data[position] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        tables, bad = read(path)
        if bad:
            noticed += 1
        else:
            assert tables is not None
            got = pa.concat_tables(tables).drop_columns(["_source", "_row"])
            assert got.equals(table), f"silently wrong after a flip at byte {position} of {len(whole)}"
    assert noticed > 500


def test_a_row_group_with_a_damaged_description_is_found_in_the_footer_alone(tmp_path):
    path = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"n": [[1, 2], None] * 10}), path, row_group_size=10)
    whole = path.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    found = 0
    for bit in range(footer * 8, (len(whole) - 8) * 8):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        try:
            metadata = pq.ParquetFile(io.BytesIO(data)).metadata
        except (pa.ArrowException, OSError, ValueError):
            continue
        faults = row_group_faults(metadata, range(2)) if metadata.num_row_groups == 2 else {}
        if len(faults) == 1:
            found += 1
            path.write_bytes(data)
            tables, bad = read(path)
            assert [record.row for record in bad] == [10 * group for group in faults]
            assert sum(map(len, tables)) == 10
    assert found


def test_what_was_read_is_not_held(tmp_path):
    path = tmp_path / "foreign.parquet"
    pq.write_table(table_of(50_000), path, row_group_size=10_000)
    read(path)
    before = pa.total_allocated_bytes()
    for _ in range(3):
        read(path)
    assert pa.total_allocated_bytes() - before < path.stat().st_size


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", b"PAR1" + bytes(100) + b"PAR1"])
def test_a_file_that_is_no_parquet_is_a_clear_error(tmp_path, content):
    path = tmp_path / "no.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"no\.parquet: not a readable Parquet file"):
        list(read_parquet(FileSlice(str(path))))
    assert parquet_group_sizes(FileSlice(str(path))) is None


def test_columns_are_projected_and_missing_ones_are_null(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(table_of(10), str(path))
    (table,) = read_parquet(FileSlice(str(path)), columns=["n", "nope", "text"])
    assert table.column_names == ["n", "nope", "text", "_source", "_row"]
    assert table["nope"].null_count == 10


def test_own_provenance_columns_survive_a_second_pass(tmp_path):
    path = tmp_path / "a.parquet"
    write_parquet(pa.table({"_source": ["x"], "_row": [3]}), str(path))
    (table,) = read_parquet(FileSlice(str(path)))
    assert table.column_names == ["_source_in_file", "_row_in_file", "_source", "_row"]
    (table,) = read_parquet(FileSlice(str(path)), columns=["_row_in_file"])
    assert table["_row_in_file"].to_pylist() == [3]


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "twice.parquet"
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    pq.write_table(table, path)
    with pytest.raises(DataError, match="several columns are called 'a'"):
        list(read_parquet(FileSlice(str(path))))


def test_objects_without_fields_are_written_as_text(tmp_path):
    path = tmp_path / "empty_struct.parquet"
    write_parquet(pa.table({"a": pa.array([{}, None], pa.struct([]))}), str(path))
    (table,) = read_parquet(FileSlice(str(path)))
    assert table["a"].to_pylist() == ["{}", None]


def test_large_tables_get_several_row_groups_and_large_groups_several_batches(tmp_path):
    path = tmp_path / "large.parquet"
    noise = np.random.default_rng(0).integers(0, 2**60, 9_000_000)
    write_parquet(pa.table({"n": noise}), str(path))
    sizes = parquet_group_sizes(FileSlice(str(path)))
    assert len(sizes) == 2
    tables, _ = read(path, batch_bytes=8 * 2**20)
    assert len(tables) >= 8
    assert np.array_equal(pa.concat_tables(tables)["n"].to_numpy(), noise)


@given(
    texts=st.lists(st.sampled_from(["", "a", "é" * 50, "x" * 700, None]), min_size=2, max_size=20),
    group=st.integers(200, 2000),
    batch_bytes=st.integers(500, 50_000),
)
@settings(max_examples=20)
def test_text_that_repeats_is_decoded_in_tables_of_the_size_asked_for(tmp_path_factory, texts, group, batch_bytes):
    path = tmp_path_factory.getbasetemp() / "repeats.parquet"
    texts = texts * 100
    table = pa.table({"text": pa.array(texts, pa.string()), "n": list(range(len(texts)))})
    pq.write_table(table, path, row_group_size=group)
    tables, bad = read(path, batch_bytes=batch_bytes)
    assert not bad
    assert [text for each in tables for text in each["text"].to_pylist()] == texts
    assert [row for each in tables for row in each["_row"].to_pylist()] == list(range(len(texts)))
    assert {each.schema.field("text").type for each in tables} == {pa.string()}
    for each in tables:
        sizes = [len((text or "").encode()) for text in each["text"].to_pylist()]
        assert sum(sizes) <= batch_bytes or len(sizes) == 1


def test_rows_that_take_next_to_nothing_in_the_file_come_in_small_tables(tmp_path):
    path = tmp_path / "zeros.parquet"
    pq.write_table(pa.table({"n": np.zeros(2_000_000, dtype=np.int64)}), path, row_group_size=2_000_000)
    assert path.stat().st_size < 100_000
    tables, _ = read(path, batch_bytes=10**6)
    assert max(table.num_rows for table in tables) <= 10**6 // 8
    assert sum(table.num_rows for table in tables) == 2_000_000
