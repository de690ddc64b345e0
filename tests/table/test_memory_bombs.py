"""Small files that would take memory out of proportion are quarantined; what is sound, and other files, come out."""

from __future__ import annotations

import io
import json
import struct
import tarfile
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core.authoring.joining import join_tables
from curator_core.authoring.recording import Recording
from curator_core.authoring.tasks import FileSlice
from curator_core.files.limits import Limits
from curator_core.values.errors import DataError
from curator_table.arrow.claims import (
    _BATCH_COMPRESSION,
    _MESSAGE_BODY_BYTES,
    _MESSAGE_HEADER,
    _message,
    file_messages,
    stream_messages,
)
from curator_table.formats import format_named
from curator_table.json.columns import columns_from_records, shape_of
from curator_table.memory_claims import count_fields

TABLE_BYTES = 200 * 2**20
"""More than any table of a small file may take, and less than each of the bombs would."""


def read(path, name, **options):
    recording = Recording()
    with recording.active():
        piece = FileSlice(str(path), file_bytes=path.stat().st_size)
        tables = list(format_named(name).read(piece, **options))
    return tables, recording.bad_records


LIMITS = Limits(max_expansion=100)


def read_within_bounds(path, name):
    """Read a file that decodes to more than it may, from a pool that nothing else uses: its peak is for life."""
    usual, pool = pa.default_memory_pool(), pa.system_memory_pool()
    pa.set_memory_pool(pool)
    try:
        tables, bad = read(path, name, limits=LIMITS)
    finally:
        pa.set_memory_pool(usual)
    assert pool.max_memory() < TABLE_BYTES
    assert sum(table.nbytes for table in tables) <= LIMITS.allowed_bytes(path.stat().st_size)
    return bad


def check_bomb(path, name):
    bad = read_within_bounds(path, name)
    assert [record.error_type for record in bad] == ["DecompressionBomb"]
    assert "max_expansion" in bad[0].message


def check_arrow(path, data, error_types):
    path.write_bytes(data)
    assert [record.error_type for record in read_within_bounds(path, "arrow")] == error_types


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


KEYS = {
    "a new key per line": lines({f"k{n}": 1} for n in range(1_500)),
    "new keys after honest ones": lines([{"a": n} for n in range(500)] + [{f"k{n}": 1} for n in range(1_500)]),
    "one wide record": lines([{f"k{n}": 1 for n in range(1_500)}, *({"a": 1} for _ in range(500))]),
    # The parser learns the columns from 256 lines at equal distances: every eighth.
    "new keys between empty records": lines({f"k{n}": 1} if n % 8 else {} for n in range(255 * 8 + 1)),
}


@pytest.mark.parametrize("text", KEYS.values(), ids=KEYS)
def test_records_with_keys_beyond_the_cap_are_quarantined(tmp_path, text):
    path = tmp_path / "keys.jsonl"
    path.write_text(text)
    tables, bad = read(path, "jsonl")
    assert sum(table.nbytes for table in tables) < TABLE_BYTES
    assert all(table.num_columns <= 1000 + 2 for table in tables)
    assert {record.error_type for record in bad} == {"TooManyColumns"}
    assert "raise max_columns" in bad[0].message
    assert sum(table.num_rows for table in tables) + sum(record.rows for record in bad) == text.count("\n")
    more, none = read(path, "jsonl", limits=Limits(max_columns=2_000))
    assert not none
    assert sum(table.num_rows for table in more) == text.count("\n")


NESTED = {
    "objects": [{"o": {"p": {f"k{n}": 1}}} for n in range(1_500)],
    "objects in a list": [{"a": 1}, {"l": [{f"k{n}": 1} for n in range(1_500)]}],
    "few keys, many objects in a list": [{"l": [{f"k{n % 900}": 1} for n in range(9_000)]}],
    "objects in lists of lists": [{"l": [[{f"k{n}": 1}] for n in range(1_500)]}],
    "keys of columns times keys of objects": [{f"a{n % 9}": {f"k{n}": 1}} for n in range(1_500)],
}


@pytest.mark.parametrize("records", NESTED.values(), ids=NESTED)
def test_objects_with_too_many_keys_stay_text(tmp_path, records):
    path = tmp_path / "nested.jsonl"
    path.write_text(lines(records))
    tables, bad = read(path, "jsonl")
    assert not bad
    assert sum(table.nbytes for table in tables) < TABLE_BYTES
    assert all(count_fields(table.schema.types) <= 1000 + 2 for table in tables)
    rows = [row for table in tables for row in table.drop_columns(["_source", "_row"]).to_pylist()]
    assert [{key: parsed(value) for key, value in row.items() if value is not None} for row in rows] == records


def parsed(value):
    return json.loads(value) if isinstance(value, str) else without_nulls(value)


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def test_sparse_records_become_several_tables(tmp_path):
    path = tmp_path / "sparse.jsonl"
    path.write_text(lines({f"k{n % 90}": n} for n in range(2_000)))
    tables, bad = read(path, "jsonl", limits=Limits(expansion_floor_bytes=2**16))
    assert not bad
    assert len(tables) > 1
    assert max(table.nbytes for table in tables) < 2 * max(2**16, 4 * path.stat().st_size)
    rows = [row for table in tables for row in table.drop_columns(["_source", "_row"]).to_pylist()]
    assert [sum(filter(None, row.values())) for row in rows] == list(range(2_000))


def test_a_record_whose_lists_would_take_too_much_is_quarantined(tmp_path):
    path = tmp_path / "lists.jsonl"
    path.write_text(lines([{"l": []}, {"l": [{f"k{n % 100}": 1} for n in range(2_000)]}, {"l": [{"k0": 1}]}]))
    item = pa.struct([(f"k{n}", pa.int64()) for n in range(100)])
    types = pa.schema([("l", pa.list_(item))])
    tables, bad = read(path, "jsonl", types=types, limits=Limits(expansion_floor_bytes=2**16))
    assert sum(table.num_rows for table in tables) == 2
    assert [(record.error_type, record.row) for record in bad] == [("TooManyColumns", len('{"l": []}') + 1)]
    assert "schema: {column: json}" in bad[0].message


def test_tables_that_share_no_columns_are_not_joined():
    tables = [pa.table({f"k{n}": [1]}) for n in range(1_000)]
    joined = list(join_tables(tables, 2**18))
    assert sum(table.num_rows for table in joined) == 1_000
    assert max(table.nbytes for table in joined) < 2**20


json_values = st.recursive(
    st.none() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), json_values, max_size=4), max_size=6))
def test_a_shape_is_never_smaller_than_the_columns(records):
    columns = columns_from_records(records)
    assert count_fields([column.type for column in columns.values()]) <= shape_of(records).fields


def test_fields_in_a_dictionary_are_counted():
    assert count_fields([pa.dictionary(pa.int8(), pa.struct([(f"f{n}", pa.int8()) for n in range(9)]))]) == 10


def arrow_bytes(table, *, stream=False, **options):
    sink = io.BytesIO()
    create = pa.ipc.new_stream if stream else pa.ipc.new_file
    with create(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def runs(value, count):
    return pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int32()), pa.array([value]))


def references(value, count):
    return pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()).take(pa.array([0] * count)), pa.array([value]))


def zeros(count):
    return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(bytes(8 * count))])


LONG = "x" * 2**19


def lists_of(values, lengths):
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(offsets, values)


def views(value, count):
    view = struct.pack("<i4sii", len(value), value[:4].encode(), 0, 0)
    return pa.Array.from_buffers(
        pa.string_view(), count, [None, pa.py_buffer(view * count), pa.py_buffer(value.encode())]
    )


def list_views(values, count):
    offsets, sizes = pa.array([0] * count, pa.int32()), pa.array([len(values)] * count, pa.int32())
    return pa.ListViewArray.from_arrays(offsets, sizes, values)


def objects(values):
    return pa.StructArray.from_arrays([values], ["inner"])


ARROW = {
    "runs": (lambda: {"text": runs("x", 2**30)}, {}),
    "runs of a long text": (lambda: {"text": runs("x" * 2**20, 3_000)}, {"compression": "zstd"}),
    "nulls": (lambda: {"text": pa.nulls(2**30)}, {}),
    "columns of nulls": (lambda: {f"c{n}": pa.nulls(10**6) for n in range(900)}, {}),
    "references": (lambda: {"text": references("x" * 2**20, 3_000)}, {"compression": "zstd"}),
    "compressed": (lambda: {"n": zeros(2**25)}, {"compression": "zstd"}),
    "a compressed dictionary": (
        lambda: {"d": pa.DictionaryArray.from_arrays(pa.array([0]), zeros(2**25))},
        {"compression": "zstd"},
    ),
    "objects without fields": (lambda: {"o": pa.StructArray.from_buffers(pa.struct([]), 2**30, [None])}, {}),
    "references in objects": (lambda: {"o": objects(references(LONG, 600))}, {"compression": "zstd"}),
    "references in lists": (lambda: {"l": lists_of(references(LONG, 600), [1] * 600)}, {"compression": "zstd"}),
    "references in one list": (lambda: {"l": lists_of(references(LONG, 600), [600])}, {"compression": "zstd"}),
    "references to objects": (
        lambda: {"o": pa.DictionaryArray.from_arrays(pa.array([0] * 600), objects(pa.array([LONG] + [""] * 30_000)))},
        {"compression": "zstd"},
    ),
    "views": (lambda: {"text": views(LONG, 600)}, {"compression": "zstd"}),
    "views of lists": (lambda: {"l": list_views(zeros(2**16), 600)}, {"compression": "zstd"}),
}  # fmt: skip


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
@pytest.mark.parametrize(("columns", "options"), ARROW.values(), ids=ARROW)
def test_arrow_that_decodes_to_too_much_is_quarantined(tmp_path, columns, options, stream):
    path = tmp_path / "bomb.arrow"
    path.write_bytes(arrow_bytes(pa.table(columns()), stream=stream, **options))
    check_bomb(path, "arrow")


def test_runs_that_cannot_be_decoded_are_refused(tmp_path):
    path = tmp_path / "runs.arrow"
    path.write_bytes(arrow_bytes(pa.table({"o": objects(runs("x", 3)), "n": [1, 2, 3]})))
    with pytest.raises(DataError, match="column 'o' has run-end encoded values of a type that cannot be decoded"):
        read(path, "arrow")
    assert read(path, "arrow", columns=["n"])[0][0].num_rows == 3


def lie(data, offset, old, new):
    """Return a file whose message at an offset says one number instead of another."""
    at = data.index(struct.pack("<q", old), offset)
    return data[:at] + struct.pack("<q", new) + data[at + 8 :]


def test_a_record_batch_behind_a_corrupt_one_is_checked_too(tmp_path):
    table = pa.concat_tables([pa.table({"n": zeros(1)}), pa.table({"n": zeros(2**25)})])
    data = arrow_bytes(table, compression="zstd")
    first = file_messages(io.BytesIO(data))[1][0]
    corrupt = data[: first + 4] + struct.pack("<I", 2**30) + data[first + 8 :]  # the length of its metadata
    check_arrow(tmp_path / "a.arrow", corrupt, ["CorruptArrow", "DecompressionBomb"])


def test_a_negative_length_does_not_make_up_for_a_large_one(tmp_path):
    data = arrow_bytes(pa.table({"n": zeros(2**25), "no": pa.nulls(2**25)}), compression="zstd")
    offset = file_messages(io.BytesIO(data))[1][0]
    lies = lie(data, offset, 2**25, -(2**40))
    check_arrow(tmp_path / "a.arrow", lies, ["CorruptArrow"])


def old_arrow_bytes(values):
    """Return a file that names its codec as Arrow 0.17 did: in the metadata of the message, not of the record batch."""
    batch, sink = pa.record_batch({"data": values}), io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression="zstd", metadata_version=pa.ipc.MetadataVersion.V4)
    with pa.ipc.new_file(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch, custom_metadata={"ARROW:experimental_compression": "zstd"})
    data = bytearray(sink.getvalue())
    offset = file_messages(io.BytesIO(data))[1][0]
    message, body = _message(io.BytesIO(data), offset)
    at = body - len(message._data) + message.table(_MESSAGE_HEADER)._fields + 4 + 2 * _BATCH_COMPRESSION
    data[at : at + 2] = bytes(2)
    return data


@pytest.mark.parametrize(("size_bytes", "error_types"), [(2**10, []), (2**28, ["DecompressionBomb"])])
def test_a_codec_in_the_metadata_of_a_message_is_seen(tmp_path, size_bytes, error_types):
    check_arrow(tmp_path / "a.arrow", old_arrow_bytes(pa.array([bytes(size_bytes)])), error_types)


@pytest.mark.timeout(60)
def test_a_message_that_leads_back_to_itself_is_read_once(tmp_path):
    table = pa.table({"d": pa.array(["a", "b"]).dictionary_encode()})
    data = arrow_bytes(table, stream=True)
    offset = next(stream_messages(io.BytesIO(data)))
    message, body = _message(io.BytesIO(data), offset)
    lies = lie(data, offset, message.integer(_MESSAGE_BODY_BYTES, "q"), offset - body)
    check_arrow(tmp_path / "a.arrow", lies, ["CorruptArrow"])


@settings(deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=30),
    st.booleans(),
    st.sampled_from([None, "zstd", "lz4"]),
    st.integers(12, 400),
)
def test_honest_arrow_comes_out_as_it_is(tmp_path_factory, texts, stream, compression, batch_bytes):
    plain = pa.array(texts, pa.string())
    table = pa.table({
        "text": plain,
        "references": plain.dictionary_encode(),
        "runs": pa.compute.run_end_encode(plain),
        "nothing": pa.nulls(len(texts)),
        "list": pa.array([[text] for text in texts], pa.list_(pa.string())),
        "view": plain.cast(pa.string_view()),
        "list of references": lists_of(plain.dictionary_encode(), [1] * len(texts)),
    })  # fmt: skip
    path = tmp_path_factory.mktemp("arrow") / "a.arrow"
    path.write_bytes(arrow_bytes(table, stream=stream, compression=compression))
    tables, bad = read(path, "arrow", batch_bytes=batch_bytes)
    assert not bad
    rows = [row for each in tables for row in each.drop_columns(["_source"]).to_pylist()]
    assert rows == [{**row, "_row": number} for number, row in enumerate(table.to_pylist())]


def padded(count):
    """Return long texts, and so many other ones that the file does not look as if it had only references."""
    random = Random(7)
    return [LONG] * count + [random.randbytes(200).hex() for _ in range(3_000)]


PARQUET = {
    "a constant": (lambda: {"n": zeros(2**25)}, {}),
    "nulls": (lambda: {"n": pa.nulls(2**26, pa.int32())}, {}),
    "nothing but nulls": (lambda: {"n": pa.nulls(2**26)}, {}),
    "a list of a constant": (lambda: {"n": lists_of(zeros(2**25), [2**25])}, {}),
    "a long text again and again": (lambda: {"text": references("x" * 2**20, 3_000)}, {}),
    "large text": (lambda: {"text": pa.array([LONG] * 600, pa.large_string())}, {"store_schema": True}),
    "text that stays a dictionary": (lambda: {"text": references(LONG, 600)}, {"store_schema": True}),
    "text in lists": (lambda: {"text": lists_of(references(LONG, 600), [1] * 600)}, {}),
    "text in one list": (lambda: {"text": lists_of(references(LONG, 600), [0, 600, *[0] * 600])}, {}),
    "text in objects": (lambda: {"o": pa.StructArray.from_arrays([references(LONG, 600)], ["text"])}, {}),
    "text beside other text": (lambda: {"text": padded(600)}, {}),
    "text beside other text, in objects": (lambda: {"o": [{"text": text} for text in padded(600)]}, {}),
    "text beside other text, in lists": (lambda: {"l": [[text] for text in padded(600)]}, {}),
    "text that repeats the one before it": (
        lambda: {"text": [LONG] * 600},
        {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
    ),
    "a list in a column whose name has a dot": (lambda: {"x.y": lists_of(zeros(2**25), [2**25])}, {}),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "options"), PARQUET.values(), ids=PARQUET)
def test_parquet_that_decodes_to_too_much_is_quarantined(tmp_path, columns, options):
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table(columns()), path, compression="zstd", **{"store_schema": False, **options})
    check_bomb(path, "parquet")


def test_parquet_that_repeats_comes_out_as_it_is(tmp_path):
    texts = [None if n % 7 == 0 else "x" * (n % 90) for n in range(1_500)]
    table = pa.table({
        "text": texts,
        "large": pa.array(texts, pa.large_string()),
        "view": pa.array(texts, pa.string_view()),
        "list": [None if n % 5 == 0 else [text] * (n % 3) for n, text in enumerate(texts)],
        "object": [{"text": text, "n": n} for n, text in enumerate(texts)],
        "map": pa.array([[("key", text)] for text in texts], pa.map_(pa.string(), pa.string())),
        "mixed": [str(n) * 200 if n > 1_000 else text for n, text in enumerate(texts)],
    })  # fmt: skip
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=1_200, dictionary_pagesize_limit=2**14)
    limits = Limits(max_expansion=1, expansion_floor_bytes=3 * table.nbytes)
    tables, bad = read(path, "parquet", batch_bytes=2**14, limits=limits)
    assert not bad
    assert len(tables) > 10
    assert pa.concat_tables(tables).drop_columns(["_source", "_row"]).equals(table)


@pytest.mark.parametrize("name", ["parquet", "arrow", "csv"])
def test_a_file_with_too_many_columns_is_quarantined_unless_few_are_read(tmp_path, name):
    path = tmp_path / f"wide.{name}"
    format_named(name).write(pa.table({f"c{n}": [1] for n in range(1_100)}), str(path))
    with pytest.raises(Exception, match="it has 1,100 columns, nested fields included; at most 1,000 are read"):
        read(path, name)
    assert read(path, name, limits=Limits(max_columns=1_100))[0][0].num_columns == 1_102
    if name != "csv":
        assert read(path, name, columns=["c7"])[0][0].column_names == ["c7", "_source", "_row"]


def test_sidecars_with_a_new_key_each_are_quarantined(tmp_path):
    from curator_table.tar.archive_bytes import open_archive
    from curator_table.tar.members import TarLimits, walk_members
    from curator_table.tar.samples import group_samples
    from curator_table.tar.tables import SampleLayout, sample_tables

    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for n in range(1_500):
            for name, data in ((f"{n:05}.jpg", b"x"), (f"{n:05}.json", b'{"o": {"k%d": 1}, "k%d": 1}' % (n, n))):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    recording = Recording()
    with recording.active(), open_archive(FileSlice(str(path)), Limits()) as archive:
        samples = group_samples(archive, walk_members(archive, str(path), TarLimits()), str(path))
        layout = SampleLayout(frozenset(["jpg"]))
        tables = list(sample_tables(samples, archive, str(path), layout, batch_bytes=2**25))
    assert sum(table.num_rows for table in tables) + len(recording.bad_records) == 1_500
    assert all(count_fields(table.schema.types) <= 1_000 + 5 for table in tables)
