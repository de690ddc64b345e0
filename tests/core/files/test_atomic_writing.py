"""Writers: all or nothing, and a defined text for every type."""

import base64
import datetime as dt
import decimal
import errno
import os

import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator_core.authoring.tasks import FileSlice
from curator_core.files.atomic import atomic_output
from curator_core.values.errors import StageError
from curator_table import read_jsonl, write_arrow, write_csv, write_jsonl, write_parquet

TABLE = pa.table({"text": ["one", "two"], "n": [1, 2]})
WRITERS = {"jsonl": write_jsonl, "parquet": write_parquet, "csv": write_csv, "arrow": write_arrow}


def test_a_failure_leaves_nothing_and_keeps_the_old_file(tmp_path):
    target = tmp_path / "out.jsonl"
    target.write_text("old")

    def fail_half_way():
        with atomic_output(str(target)) as file:
            file.write(b"new")
            assert target.read_text() == "old"
            (hidden,) = tmp_path.glob(".*")
            assert hidden.name.startswith(".out.jsonl.tmp-")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail_half_way()
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text() == "old"


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("failing", ["write", "fsync", "rename"])
def test_a_full_disk_is_a_clear_error_and_leaves_no_torn_file(tmp_path, monkeypatch, kind, failing):
    full = OSError(errno.ENOSPC, "No space left on device")

    def no_space(*_args, **_options):
        raise full

    if failing == "write":
        import pathlib

        real_open = pathlib.Path.open

        class FullFile:
            def __init__(self, file):
                self._file = file

            def __getattr__(self, name):
                return getattr(self._file, name)

            def __enter__(self):
                return self

            def __exit__(self, *_exc):
                self._file.close()

            write = no_space

        monkeypatch.setattr(pathlib.Path, "open", lambda *a, **k: FullFile(real_open(*a, **k)))
    else:
        monkeypatch.setattr(os, {"fsync": "fsync", "rename": "replace"}[failing], no_space)
        if failing == "rename":
            monkeypatch.setattr("pathlib.Path.replace", no_space)
    with pytest.raises(StageError, match=r"cannot write .*No space left on device; nothing was left behind"):
        WRITERS[kind](TABLE, str(tmp_path / f"out.{kind}"))
    monkeypatch.undo()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(StageError, match="No such file or directory"):
        write_jsonl(TABLE, str(tmp_path / "missing" / "a.jsonl"))


@pytest.mark.parametrize("kind", WRITERS)
def test_remote_output_appears_whole_or_not_at_all(memory, kind):
    size = WRITERS[kind](TABLE, f"memory://out/a.{kind}")
    assert memory.info(f"/out/a.{kind}")["size"] == size

    def fail_half_way():
        with atomic_output("memory://out/b") as file:
            file.write(b"x" * 10)
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert not memory.exists("/out/b")


def written(tmp_path, array, **options):
    path = tmp_path / "typed.jsonl"
    write_jsonl(pa.table({"x": array}), str(path), write_nulls=True, **options)
    return [orjson.loads(line)["x"] for line in path.read_bytes().splitlines()]


MOMENT = dt.datetime(2024, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001 - a naive time is what is tested
RAW = b"\xff\x00raw"
TEXT = base64.b64encode(RAW).decode()


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([RAW, None]), [TEXT, None]),
        (pa.array([RAW], pa.large_binary()), [TEXT]),
        (pa.array([b"abcd"], pa.binary(4)), [base64.b64encode(b"abcd").decode()]),
        (pa.array([[RAW, None], None, []]), [[TEXT, None], None, []]),
        (pa.array([[RAW], [None]], pa.list_(pa.binary(), 1)), [[TEXT], [None]]),
        (pa.array([[RAW], None], pa.large_list(pa.binary())), [[TEXT], None]),
        (pa.array([{"a": [{"b": RAW}]}, None]), [{"a": [{"b": TEXT}]}, None]),
        (pa.array([RAW, RAW]).dictionary_encode(), [TEXT, TEXT]),
        (pa.array([[("k", RAW)], None], pa.map_(pa.string(), pa.binary())), [{"k": TEXT}, None]),
        (pa.array([MOMENT, None], pa.timestamp("us")), ["2024-01-02T03:04:05.678901", None]),
        (pa.array([MOMENT], pa.timestamp("us", "UTC")), ["2024-01-02T03:04:05.678901+00:00"]),
        (pa.array([[MOMENT]], pa.list_(pa.timestamp("s"))), [["2024-01-02T03:04:05.000"]]),
        (pa.array([MOMENT.date()]), ["2024-01-02"]),
        (pa.array([decimal.Decimal("12345678901234567890.12")]), ["12345678901234567890.12"]),
        (pa.array([float("nan"), float("inf"), -0.5]), [None, None, -0.5]),
        (pa.array([2**64 - 1], pa.uint64()), [2**64 - 1]),
        (pa.array(["a", None]).dictionary_encode(), ["a", None]),
        (pa.nulls(2), [None, None]),
        (pa.array([True, None]), [True, None]),
        (pa.array(["x"], pa.string_view()), ["x"]),
        (pa.array([{}, None], pa.struct([])), [{}, None]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_every_type_has_a_text_in_json(tmp_path, array, expected):
    assert written(tmp_path, array) == expected
    padded = pa.concat_arrays([array, array, array]).slice(len(array), len(array))
    assert written(tmp_path, padded) == expected


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "text": st.none() | st.text(st.characters(exclude_categories=["Cs"])),
                "n": st.none() | st.integers(-(2**63), 2**63 - 1),
                "x": st.none() | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15),
                "tags": st.none()
                | st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=3),
            }
        ),
        min_size=1,
        max_size=10,
    ),
    extension=st.sampled_from(["", ".gz", ".zst"]),
)
@settings(max_examples=150)
def test_json_lines_round_trip(tmp_path_factory, rows, extension):
    path = tmp_path_factory.getbasetemp() / f"round.jsonl{extension}"
    schema = pa.schema([("text", pa.string()), ("n", pa.int64()), ("x", pa.float64()), ("tags", pa.list_(pa.string()))])
    write_jsonl(pa.Table.from_pylist(rows, schema=schema), str(path))
    got = [row for table in read_jsonl(FileSlice(str(path))) for row in table.to_pylist()]
    assert [{key: row.get(key) for key in schema.names} for row in got] == rows


def test_rows_without_columns_are_still_rows(tmp_path):
    table = pa.table({"a": [1, 2]}).select([])
    write_jsonl(table, str(tmp_path / "none.jsonl"))
    assert (tmp_path / "none.jsonl").read_bytes() == b"{}\n{}\n"
